//! What drains the backlogs.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::Temporary;

use super::recovery;
use super::sources::{ACCOUNT, Source, connect, run};
use crate::{Error, measure};

/// The longest time that a backlog may take, in seconds.
const LIMIT_S: u64 = 1_800;
/// A server id that no source has.
const SERVER_ID: u32 = 77;

/// What drains the backlogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// MariaDB's own replication, one connection for each source.
    Own {
        /// `slave_parallel_threads`.
        threads: u16,
        /// `slave_parallel_mode` is `optimistic`, else `conservative`.
        is_optimistic: bool,
    },
    /// `hortator replicate`.
    Hortator,
    /// The same with the rule of older tools: `--order=schema`.
    BySchema,
    /// `mariadb-binlog | mariadb`, from the files of the log.
    Client,
    /// `hortator replicate run --from-files`.
    Files,
}

impl Contender {
    /// Those that read the log from a server.
    pub const OF_SERVERS: [Contender; 6] = [
        Contender::Own { threads: 0, is_optimistic: true },
        Contender::Own { threads: 4, is_optimistic: true },
        Contender::Own { threads: 16, is_optimistic: true },
        Contender::Own { threads: 16, is_optimistic: false },
        Contender::Hortator,
        Contender::BySchema,
    ];
    /// Those that read the files of a server that is gone.
    pub const OF_FILES: [Contender; 2] = [Contender::Client, Contender::Files];

    /// What it does.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Contender::Own { threads: 0, .. } => {
                "The target's own replication, one connection and one applier for each source."
            }
            Contender::Own { .. } => {
                "The target's own replication with slave_parallel_threads for all sources together."
            }
            Contender::Hortator => "One process outside the servers, with its defaults; its start is part of the time.",
            Contender::BySchema => {
                "The same, where transactions of one source that write to the same database wait for each other."
            }
            Contender::Client => "One connection; the usual way of point-in-time recovery.",
            Contender::Files => "One process with its defaults; its start is part of the time.",
        }
    }

    /// Whether it is not Hortator.
    #[must_use]
    pub fn is_rival(self) -> bool {
        matches!(self, Contender::Own { .. } | Contender::Client)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Own { threads: 0, .. } => f.write_str("own replication, no parallel threads"),
            Contender::Own { threads, is_optimistic } => {
                let mode = if *is_optimistic { "optimistic" } else { "conservative" };
                write!(f, "own replication, {threads} threads {mode}")
            }
            Contender::Hortator => f.write_str("hortator replicate"),
            Contender::BySchema => f.write_str("hortator replicate --order=schema"),
            Contender::Client => f.write_str("mariadb-binlog, piped into mariadb"),
            Contender::Files => f.write_str("hortator replicate run --from-files"),
        }
    }
}

/// What an agent has used.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// CPU time.
    pub cpu: Duration,
    /// Peak resident memory, in bytes.
    pub peak_bytes: u64,
}

impl Agent {
    /// With another run of it.
    pub(super) fn and(self, usage: measure::Usage) -> Self {
        Self { cpu: self.cpu + usage.cpu, peak_bytes: self.peak_bytes.max(usage.peak_bytes) }
    }
}

/// Drains all backlogs; gives the time that it took, and the agent's share.
pub(super) fn drain(
    contender: Contender,
    sources: &[Source],
    target: &Temporary,
    hortator: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Duration, Option<Agent>), Error> {
    match contender {
        Contender::Own { threads, is_optimistic } => {
            own(sources, target, threads, is_optimistic).map(|wall| (wall, None))
        }
        Contender::Hortator => agent(sources, target, hortator, folder, &[]).map(|(wall, agent)| (wall, Some(agent))),
        Contender::BySchema => {
            agent(sources, target, hortator, folder, &["--order=schema"]).map(|(wall, agent)| (wall, Some(agent)))
        }
        Contender::Client => {
            recovery::by_client(sources, target, folder, stop).map(|(wall, agent)| (wall, Some(agent)))
        }
        Contender::Files => {
            recovery::by_hortator(sources, target, hortator, folder, stop).map(|(wall, agent)| (wall, Some(agent)))
        }
    }
}

fn own(sources: &[Source], target: &Temporary, threads: u16, is_optimistic: bool) -> Result<Duration, Error> {
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
    for source in sources {
        let (name, end) = (&source.schema, &source.end);
        let wait = format!("SELECT MASTER_POS_WAIT('{}', {}, {LIMIT_S}, '{name}')", end.file, end.position);
        let rows = connection.fetch(wait.as_bytes()).map_err(Error::server("waiting for replication"))?;
        let waited = rows.into_iter().flatten().flatten().next();
        if waited.is_none_or(|events| events == b"-1") {
            return Err(Error::Answer(format!("replication of {name} has not come to its end")));
        }
    }
    let wall = begin.elapsed();
    run(&mut connection, &["STOP ALL SLAVES".to_owned()])?;
    Ok(wall)
}

fn agent(
    sources: &[Source],
    target: &Temporary,
    hortator: &Path,
    folder: &Path,
    options: &[&str],
) -> Result<(Duration, Agent), Error> {
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
    let file = folder.join("replicate.toml");
    fs::write(&file, text).map_err(Error::io(format!("writing {}", file.display())))?;
    let command = |name: &str| {
        let mut command = Command::new(hortator);
        command.args(["replicate", name]).arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let log = folder.join("replicate.log");
    let errors = fs::File::create(&log).map_err(Error::io(format!("creating {}", log.display())))?;
    let begin = Instant::now();
    let child =
        command("run").args(options).stderr(errors).spawn().map_err(Error::io("starting hortator replicate"))?;
    let mut running = Running(child);
    let socket = folder.join("replicate.toml.sock");
    while !socket.exists() && running.0.try_wait().map_err(Error::io("watching hortator"))?.is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    let waited = command("wait").args(["--caught-up", "--timeout", &LIMIT_S.to_string()]).status();
    let wall = begin.elapsed();
    let is_done = waited.map_err(Error::io("starting hortator replicate wait"))?.success();
    let cpu = measure::cpu_time(running.0.id()).map_err(Error::io("reading the agent's CPU time"))?;
    let peak_bytes = measure::peak_memory_bytes(running.0.id()).unwrap_or_default();
    let stopped = command("stop").status().map_err(Error::io("starting hortator replicate stop"))?;
    if is_done && stopped.success() {
        running.0.wait().map_err(Error::io("waiting for hortator replicate"))?;
        return Ok((wall, Agent { cpu, peak_bytes }));
    }
    let output = fs::read_to_string(&log).unwrap_or_default();
    Err(Error::Failed { program: "hortator replicate".to_owned(), status: "not caught up".to_owned(), output })
}

/// Ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
