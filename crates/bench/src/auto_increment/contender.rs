//! What loads the dump.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::dump::{Dump, SCHEMA};
use crate::Error;
use crate::measure::{self, Usage};
use crate::nodes::Nodes;

/// Statements that wait for a connection.
const QUEUE: usize = 16;

/// What loads the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// `mariadb < dump`.
    Client,
    /// `hortator load` with so many connections.
    Load(usize),
    /// The dump's statements as they are, in turn over so many connections.
    Statements(usize),
}

impl Contender {
    /// Its connections.
    #[must_use]
    pub fn connections(self) -> usize {
        match self {
            Contender::Client => 1,
            Contender::Load(connections) | Contender::Statements(connections) => connections,
        }
    }

    /// What it does.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Contender::Client => "One connection.",
            Contender::Load(_) => {
                "Splits and joins the dump's statements; each connection commits chunks of about 4 MiB."
            }
            Contender::Statements(_) => {
                "Each statement is sent as it is to the next free connection, and commits by itself."
            }
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, connections) = match self {
            Contender::Client => return f.write_str("mariadb client"),
            Contender::Load(connections) => ("hortator load", connections),
            Contender::Statements(connections) => ("statements as written", connections),
        };
        let plural = if *connections == 1 { "" } else { "s" };
        write!(f, "{name}, {connections} connection{plural}")
    }
}

/// Loads the dump into servers without its schema; gives what the loader used.
pub(super) fn load(
    contender: Contender,
    dump: &Dump,
    nodes: &Nodes,
    hortator: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Usage, Error> {
    let log = folder.join("auto-increment.log");
    let mut command = match contender {
        Contender::Statements(connections) => return statements(dump, nodes, connections, stop),
        Contender::Client => {
            let mut command = nodes.client();
            command.stdin(Stdio::from(dump.open()?));
            command
        }
        Contender::Load(connections) => {
            let mut command = nodes.hortator(hortator);
            command.arg("--threads").arg(connections.to_string()).arg(&dump.path);
            command
        }
    };
    measure::run(&mut command, &log, stop)
}

fn statements(dump: &Dump, nodes: &Nodes, connections: usize, stop: &AtomicBool) -> Result<Usage, Error> {
    let cpu = || measure::cpu_time(std::process::id()).map_err(Error::io("reading this program's CPU time"));
    let (begin, before) = (Instant::now(), cpu()?);
    let mut first = nodes.connect(0)?;
    for definition in &dump.definitions {
        first.execute(definition.as_bytes()).map_err(Error::server(format!("running {definition}")))?;
    }
    let (sender, receiver) = mpsc::sync_channel::<Vec<u8>>(QUEUE);
    let receiver = Mutex::new(receiver);
    let next = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
    let insert = || -> Result<(), Error> {
        let mut connection = nodes.connect(0)?;
        connection.select_db(SCHEMA.as_bytes()).map_err(Error::server("selecting the schema"))?;
        while let Some(statement) = next() {
            connection.execute(&statement).map_err(Error::server("inserting"))?;
        }
        Ok(())
    };
    let lines = BufReader::with_capacity(1 << 20, dump.open()?).split(b'\n').skip(dump.definitions.len());
    thread::scope(|scope| {
        let inserting: Vec<_> = (0..connections).map(|_| scope.spawn(insert)).collect();
        for line in lines {
            let mut line = line.map_err(Error::io("reading the dump"))?;
            line.pop();
            let mut is_taken = false;
            // A connection that failed takes no statement; if none is left, its error is what counts.
            while !is_taken && !inserting.iter().all(thread::ScopedJoinHandle::is_finished) {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                match sender.try_send(line) {
                    Ok(()) => {
                        is_taken = true;
                        line = Vec::new();
                    }
                    Err(mpsc::TrySendError::Full(back) | mpsc::TrySendError::Disconnected(back)) => {
                        line = back;
                        thread::sleep(Duration::from_micros(200));
                    }
                }
            }
        }
        drop(sender);
        for thread in inserting {
            thread.join().map_err(|_| Error::Answer("an inserting thread has panicked".to_owned()))??;
        }
        Ok(())
    })?;
    // The memory of this program is not that of a loader.
    Ok(Usage { wall: begin.elapsed(), cpu: cpu()?.saturating_sub(before), peak_bytes: 0 })
}
