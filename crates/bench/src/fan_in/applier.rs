//! What applies the sources' logs to a target while it runs: MariaDB's own replication, or `hortator replicate`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::Temporary;

use super::contender::{Agent, Contender};
use super::sources::{ACCOUNT, LogPosition, Source, connect, run};
use crate::{Error, measure};

/// The longest time that a backlog may take.
const LIMIT: Duration = Duration::from_secs(1_800);
/// One call that waits on a server takes so long: the user may want to stop.
const WAIT_S: u64 = 1;
/// A server id that no source has.
const SERVER_ID: u32 = 77;
/// The interval for looking at a program.
const WATCH_INTERVAL: Duration = Duration::from_millis(5);

/// An applier at work.
pub(super) enum Applier<'a> {
    /// The target's own.
    Own { connection: Box<Connection>, stop: &'a AtomicBool },
    /// A process outside the servers.
    Agent(Process<'a>),
}

/// `hortator replicate run`. It ends with this value.
pub(super) struct Process<'a> {
    child: Child,
    hortator: &'a Path,
    configuration: PathBuf,
    log: PathBuf,
    stop: &'a AtomicBool,
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'a> Applier<'a> {
    /// Starts to apply each source from its position; also gives the moment at which it was asked to.
    pub(super) fn start(
        contender: Contender,
        sources: &[Source],
        target: &Temporary,
        hortator: &'a Path,
        folder: &Path,
        stop: &'a AtomicBool,
    ) -> Result<(Self, Instant), Error> {
        match contender {
            Contender::Own { threads, is_optimistic } => own(sources, target, threads, is_optimistic, stop),
            Contender::Hortator => agent(sources, target, hortator, folder, &[], stop),
            Contender::BySchema => agent(sources, target, hortator, folder, &["--order=schema"], stop),
            Contender::Client | Contender::Files => {
                Err(Error::Answer(format!("{contender} reads files, not servers that run")))
            }
        }
    }

    /// Waits until all of the sources' logs up to these positions are applied.
    pub(super) fn wait(&mut self, ends: &[(&str, LogPosition)]) -> Result<(), Error> {
        match self {
            Self::Own { connection, stop } => {
                ends.iter().try_for_each(|(name, end)| wait_own(connection, name, end, stop))
            }
            Self::Agent(process) => process.wait(),
        }
    }

    /// Ends it; what an agent has used.
    pub(super) fn stop(self) -> Result<Option<Agent>, Error> {
        match self {
            Self::Own { mut connection, .. } => run(&mut connection, &["STOP ALL SLAVES".to_owned()]).map(|()| None),
            Self::Agent(process) => process.end().map(Some),
        }
    }

    /// CPU time of an agent so far.
    pub(super) fn cpu(&self) -> Result<Duration, Error> {
        match self {
            Self::Own { .. } => Ok(Duration::ZERO),
            Self::Agent(process) => {
                measure::cpu_time(process.child.id()).map_err(Error::io("reading the agent's CPU time"))
            }
        }
    }
}

fn own<'a>(
    sources: &[Source],
    target: &Temporary,
    threads: u16,
    is_optimistic: bool,
    stop: &'a AtomicBool,
) -> Result<(Applier<'a>, Instant), Error> {
    let mut connection = connect(target)?;
    let mode = if is_optimistic { "optimistic" } else { "conservative" };
    let mut statements =
        vec![format!("SET GLOBAL server_id = {SERVER_ID}"), format!("SET GLOBAL slave_parallel_threads = {threads}")];
    for source in sources {
        let name = &source.schema;
        statements.push(format!(
            "CHANGE MASTER '{name}' TO master_host = '127.0.0.1', master_port = {}, master_user = '{ACCOUNT}', \
             master_password = '{ACCOUNT}', master_log_file = '{}', master_log_pos = {}, master_use_gtid = no",
            source.server.node(0).port(),
            source.begin.file,
            source.begin.position,
        ));
        statements.push(format!("SET GLOBAL `{name}`.slave_parallel_mode = '{mode}'"));
    }
    run(&mut connection, &statements)?;
    let begin = Instant::now();
    run(&mut connection, &["START ALL SLAVES".to_owned()])?;
    Ok((Applier::Own { connection: Box::new(connection), stop }, begin))
}

fn wait_own(connection: &mut Connection, name: &str, end: &LogPosition, stop: &AtomicBool) -> Result<(), Error> {
    let deadline = Instant::now() + LIMIT;
    let wait = format!("SELECT MASTER_POS_WAIT('{}', {}, {WAIT_S}, '{name}')", end.file, end.position);
    loop {
        let rows = connection.fetch(wait.as_bytes()).map_err(Error::server("waiting for replication"))?;
        let waited = rows.into_iter().flatten().flatten().next();
        match waited.as_deref() {
            // It has timed out: the applier still works.
            Some(b"-1") if stop.load(Ordering::Relaxed) => return Err(Error::Interrupted),
            Some(b"-1") if Instant::now() < deadline => {}
            Some(b"-1") | None => {
                return Err(Error::Answer(format!("replication of {name} has not come to its end")));
            }
            Some(_) => return Ok(()),
        }
    }
}

fn agent<'a>(
    sources: &[Source],
    target: &Temporary,
    hortator: &'a Path,
    folder: &Path,
    options: &[&str],
    stop: &'a AtomicBool,
) -> Result<(Applier<'a>, Instant), Error> {
    let endpoint =
        |server: &Temporary| format!("socket = \"{}\"\nuser = \"root\"\n", server.node(0).socket().display());
    let mut text = format!("[target]\n{}", endpoint(target));
    for source in sources {
        let (name, begin) = (&source.schema, &source.begin);
        text += &format!(
            "[[source]]\nname = \"{name}\"\nstart = \"{}:{}\"\n{}",
            begin.file,
            begin.position,
            endpoint(&source.server)
        );
    }
    let configuration = folder.join("replicate.toml");
    fs::write(&configuration, text).map_err(Error::io(format!("writing {}", configuration.display())))?;
    let log = folder.join("replicate.log");
    let errors = fs::File::create(&log).map_err(Error::io(format!("creating {}", log.display())))?;
    let mut command = Command::new(hortator);
    command.args(["replicate", "run"]).arg(&configuration).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let begin = Instant::now();
    let child = command.spawn().map_err(Error::io("starting hortator replicate"))?;
    let mut process = Process { child, hortator, configuration, log, stop };
    process.wait_for_socket()?;
    Ok((Applier::Agent(process), begin))
}

impl Process<'_> {
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.hortator);
        command.args(["replicate", name]).arg(&self.configuration).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn wait_for_socket(&mut self) -> Result<(), Error> {
        let socket = self.configuration.with_file_name("replicate.toml.sock");
        while !socket.exists() && self.child.try_wait().map_err(Error::io("watching hortator"))?.is_none() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            thread::sleep(WATCH_INTERVAL);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        let mut command = self.command("wait");
        command.args(["--caught-up", "--timeout", &LIMIT.as_secs().to_string()]);
        let mut waiting = command.spawn().map_err(Error::io("starting hortator replicate wait"))?;
        let status = loop {
            if let Some(status) = waiting.try_wait().map_err(Error::io("waiting for hortator replicate wait"))? {
                break status;
            }
            if self.stop.load(Ordering::Relaxed) {
                // It may have just ended.
                let _ = waiting.kill();
                let _ = waiting.wait();
                return Err(Error::Interrupted);
            }
            thread::sleep(WATCH_INTERVAL);
        };
        if status.success() { Ok(()) } else { Err(self.failed("not caught up")) }
    }

    fn end(mut self) -> Result<Agent, Error> {
        let cpu = measure::cpu_time(self.child.id()).map_err(Error::io("reading the agent's CPU time"))?;
        let peak_bytes = measure::peak_memory_bytes(self.child.id()).unwrap_or_default();
        let stopped = self.command("stop").status().map_err(Error::io("starting hortator replicate stop"))?;
        if !stopped.success() {
            return Err(self.failed("not stopped"));
        }
        self.child.wait().map_err(Error::io("waiting for hortator replicate"))?;
        Ok(Agent { cpu, peak_bytes })
    }

    fn failed(&self, status: &str) -> Error {
        let output = fs::read_to_string(&self.log).unwrap_or_default();
        Error::Failed { program: "hortator replicate".to_owned(), status: status.to_owned(), output }
    }
}
