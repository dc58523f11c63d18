//! Repository tasks for which cargo has no command: `cargo xtask tidy`, `cargo xtask kills`, `cargo xtask mysql`,
//! `cargo xtask mtr`, `cargo xtask mtr-as-dumps`, `cargo xtask replicate-streams`, `cargo xtask provider-kills`, `cargo xtask sim`, `cargo xtask fire`.

mod fire;
mod jobs;
mod kills;
mod mtr;
mod mtr_as_dumps;
mod mysql;
mod provider_kills;
mod replicate_streams;
mod sim;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some("kills") => report("kills", kills::run(repository(), std::env::args().nth(2).as_deref())),
        Some("mysql") => report("mysql", mysql::run(repository())),
        Some("mtr") => report("mtr", mtr::run(repository(), std::env::args().skip(2))),
        Some("mtr-as-dumps") => report("mtr-as-dumps", mtr_as_dumps::run(repository(), std::env::args().skip(2))),
        Some("replicate-streams") => {
            report("replicate-streams", replicate_streams::run(repository(), std::env::args().skip(2)))
        }
        Some("provider-kills") => report("provider-kills", provider_kills::run(repository(), std::env::args().skip(2))),
        Some("sim") => report("sim", sim::run(repository(), std::env::args().skip(2))),
        Some("fire") => report("fire", fire::run(repository(), std::env::args().skip(2))),
        _ => {
            eprintln!("usage: cargo xtask tidy     checks the rules of this repository");
            eprintln!(
                "       cargo xtask kills [N]  kills a load and its server N times (120), and compares the results (minutes)"
            );
            eprintln!(
                "       cargo xtask mysql    compares `hortator load` with MySQL's client, on MySQL servers (slow)"
            );
            eprintln!("       cargo xtask mtr [--provider ours|galera|both] [SUITE | single | SUITE.TEST]...");
            eprintln!(
                "                            runs the server's own suites with Hortator's provider and Galera (slow)"
            );
            eprintln!(
                "       cargo xtask mtr-as-dumps [SUITE | SUITE.TEST | FILE.sql]... [--seed N] [--limit N] [--jobs N]"
            );
            eprintln!(
                "                            [--variant whole|cut] [--hortator PATH] [--timeout SECONDS] [--keep DIR]"
            );
            eprintln!("                            [--reduce] [--explained PAGE] [--set NAME=VALUE]... [-- OPTION...]");
            eprintln!(
                "                            loads the server's own tests with the client and with Hortator (hours)"
            );
            eprintln!(
                "       cargo xtask replicate-streams [SUITE | SUITE.TEST]... [--only SUITE.TEST] [--format ROW|MIXED]"
            );
            eprintln!(
                "                            [--limit N] [--jobs N] [--hortator PATH] [--timeout SECONDS] [--keep DIR] [--page FILE]"
            );
            eprintln!(
                "                            applies the server's own tests of replication to a target, and compares (an hour)"
            );
            eprintln!("       cargo xtask provider-kills [N] [--provider ours|galera]");
            eprintln!(
                "                            kills a server under its clients N times (200), and checks the data (ten minutes)"
            );
            eprintln!("       cargo xtask sim [SEEDS] [--seed N]");
            eprintln!("                            simulates clusters and all their faults, 20,000 seeds of each kind");
            eprintln!("       cargo xtask fire [MINUTES] [--provider ours|galera|both] [--seed N] [--report FILE]");
            eprintln!("                            kills, stops and isolates three nodes under their clients");
            ExitCode::from(2)
        }
    }
}

fn report(chore: &str, outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{chore}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_tidy() -> ExitCode {
    match tidy::check(repository()) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            eprintln!("tidy: {} findings", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace at build time.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the workspace")
}
