//! Repository tasks for which cargo has no command: [`TASKS`].

#[path = "../../crates/sandbox/tests/it/cargo.rs"]
mod cargo;
mod deb;
mod fire;
mod jobs;
mod kills;
mod mtr;
mod mtr_as_dumps;
mod mysql;
mod newer_debian;
mod provider_kills;
mod replicate_streams;
mod sim;
mod tidy;

use std::env::Args;
use std::iter::Skip;
use std::path::Path;
use std::process::ExitCode;

/// A task: how it is called, what it does, and the function that does it with the arguments behind its name.
struct Task {
    name: &'static str,
    arguments: &'static [&'static str],
    about: &'static str,
    run: fn(&Path, Skip<Args>) -> anyhow::Result<()>,
}

const TASKS: [Task; 11] = [
    Task {
        name: "tidy",
        arguments: &[],
        about: "checks the rules of this repository",
        run: |repository, _| tidy::run(repository),
    },
    Task {
        name: "kills",
        arguments: &["[N]"],
        about: "kills a load and its server N times (120), and compares the results (minutes)",
        run: |repository, mut arguments| kills::run(repository, arguments.next().as_deref()),
    },
    Task {
        name: "mysql",
        arguments: &[],
        about: "compares `hortator load` with MySQL's client, on MySQL servers (slow)",
        run: |repository, _| mysql::run(repository),
    },
    Task {
        name: "debian",
        arguments: &["[ARGUMENT OF cargo test]..."],
        about: "runs the tests on Debian 13, with MariaDB 11.8 (slow; as root)",
        run: newer_debian::run,
    },
    Task {
        name: "mtr",
        arguments: &["[--provider ours|galera|both] [SUITE | single | SUITE.TEST]..."],
        about: "runs the server's own suites with Hortator's provider and Galera (slow)",
        run: |repository, arguments| mtr::run(repository, arguments),
    },
    Task {
        name: "mtr-as-dumps",
        arguments: &[
            "[SUITE | SUITE.TEST | FILE.sql]... [--seed N] [--limit N] [--jobs N]",
            "[--variant whole|cut] [--hortator PATH] [--timeout SECONDS] [--keep DIR]",
            "[--reduce] [--explained PAGE] [--set NAME=VALUE]... [-- OPTION...]",
        ],
        about: "loads the server's own tests with the client and with Hortator (hours)",
        run: |repository, arguments| mtr_as_dumps::run(repository, arguments),
    },
    Task {
        name: "replicate-streams",
        arguments: &[
            "[SUITE | SUITE.TEST]... [--only SUITE.TEST] [--format ROW|MIXED]",
            "[--limit N] [--jobs N] [--hortator PATH] [--timeout SECONDS] [--keep DIR] [--page FILE]",
        ],
        about: "applies the server's own tests of replication to a target, and compares (an hour)",
        run: |repository, arguments| replicate_streams::run(repository, arguments),
    },
    Task {
        name: "provider-kills",
        arguments: &["[N] [--provider ours|galera]"],
        about: "kills a server under its clients N times (200), and checks the data (ten minutes)",
        run: |repository, arguments| provider_kills::run(repository, arguments),
    },
    Task {
        name: "sim",
        arguments: &["[SEEDS] [--seed N]"],
        about: "simulates clusters and all their faults, 20,000 seeds of each kind",
        run: |repository, arguments| sim::run(repository, arguments),
    },
    Task {
        name: "fire",
        arguments: &["[MINUTES] [--provider ours|galera|both] [--seed N] [--options LIST] [--report FILE]"],
        about: "kills three nodes, cuts their networks and takes their power, under their clients (as root)",
        run: |repository, arguments| fire::run(repository, arguments),
    },
    Task {
        name: "deb",
        arguments: &["[--check]"],
        about: "makes Debian packages in target/debian; --check installs and uses them in a new system (root)",
        run: |repository, arguments| deb::run(repository, arguments),
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        usage();
        return ExitCode::from(2);
    };
    match (task.run)(repository(), arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    for (index, task) in TASKS.iter().enumerate() {
        let begin = if index == 0 { "usage:" } else { "      " };
        let mut arguments = task.arguments.iter();
        let first = arguments.next().copied().unwrap_or_default();
        eprintln!("{begin} cargo xtask {} {first}", task.name);
        for further in arguments {
            eprintln!("                         {further}");
        }
        eprintln!("           {}", task.about);
    }
}

/// The root of the workspace at build time.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the workspace")
}
