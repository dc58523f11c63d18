//! `cargo xtask replicate-streams sysbench`: sysbench writes to several sources at once, and one target has it all.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::agent::{Agent, Progress};
use super::servers::{Picture, Role, start};
use crate::mtr_as_dumps::server::Server;

const SOURCES: usize = 3;
const TABLES: &str = "--tables=4";
const ROWS: &str = "--table-size=10000";
const THREADS: &str = "--threads=4";

/// sysbench on one server, in a schema of its own.
pub(super) struct Bench<'s> {
    server: &'s Server,
    schema: String,
}

impl Bench<'_> {
    /// Makes the schema and its tables.
    pub(super) fn prepare<'s>(server: &'s Server, schema: &str) -> anyhow::Result<Bench<'s>> {
        server.connect()?.execute(format!("CREATE DATABASE {schema}").as_bytes())?;
        let bench = Bench { server, schema: schema.to_owned() };
        let output =
            bench.command().arg("prepare").output().context("cannot run sysbench: it is a package of Debian")?;
        if !output.status.success() {
            bail!("sysbench: {}", String::from_utf8_lossy(&output.stdout));
        }
        Ok(bench)
    }

    /// Starts reads and writes for a time.
    pub(super) fn spawn(&self, time: Duration) -> anyhow::Result<Child> {
        let mut command = self.command();
        command.arg(format!("--time={}", time.as_secs())).arg("run").stdout(Stdio::piped());
        command.spawn().context("cannot run sysbench")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("sysbench");
        command.args(["oltp_read_write", "--db-driver=mysql", "--mysql-user=root", TABLES, ROWS, THREADS]);
        // Deadlocks among its own threads.
        command.arg("--mysql-ignore-errors=1213,1020,1205");
        command.arg(format!("--mysql-socket={}", self.server.socket().display()));
        command.arg(format!("--mysql-db={}", self.schema));
        command
    }
}

/// Waits for its end; gives the line that counts transactions.
pub(super) fn transactions(child: Child) -> anyhow::Result<String> {
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("sysbench: {text}");
    }
    let line = text.lines().find(|line| line.trim_start().starts_with("transactions:")).unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or("no").to_owned())
}

/// Runs it for a time, and compares.
pub(super) fn run(suites: &Path, hortator: &Path, time: Duration) -> anyhow::Result<()> {
    let sources = (0..SOURCES).map(|_| start(Role::Source, "ROW", suites)).collect::<anyhow::Result<Vec<_>>>()?;
    let target = start(Role::Target, "ROW", suites)?;
    for source in &sources {
        source.connect()?.execute(b"RESET MASTER")?;
    }
    let agent = Agent::start(hortator, &sources.iter().map(Server::socket).collect::<Vec<_>>(), &target.socket())?;
    let schema = |index: usize| format!("d{}", index + 1);
    let benches = sources.iter().enumerate().map(|(index, source)| Bench::prepare(source, &schema(index)));
    let benches = benches.collect::<anyhow::Result<Vec<_>>>()?;
    let running = benches.iter().map(|bench| bench.spawn(time)).collect::<anyhow::Result<Vec<_>>>()?;
    for (index, child) in running.into_iter().enumerate() {
        println!("{}: {} transactions in {} s", schema(index), transactions(child)?, time.as_secs());
    }
    let begin = Instant::now();
    let progress = agent.catch_up()?;
    if progress != Progress::CaughtUp {
        bail!("{progress:?}");
    }
    println!("the target has them all {:.1} s later", begin.elapsed().as_secs_f32());
    let at_target = Picture::take(&target);
    for (index, source) in sources.iter().enumerate() {
        let found = Picture::take(source).only(&schema(index)).differences(&at_target.only(&schema(index)));
        if !found.is_empty() {
            bail!("{}: {}", schema(index), found.join("\n"));
        }
        println!("{}: {} rows, equal", schema(index), at_target.rows(&schema(index)));
    }
    Ok(())
}
