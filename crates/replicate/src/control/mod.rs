//! What a person asks of a running agent, over a local socket: one line of JSON each way.
//!
//! The socket belongs to the account that runs the agent, and only that account can use it.

mod server;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent::{HoldState, SourceStatus};

pub use server::ControlServer;

/// The longest line, in bytes.
const LINE_LIMIT_BYTES: u64 = 16 << 20;
/// How long the other side may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A question or an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Request {
    /// How all sources stand.
    Status,
    /// A source waits.
    Pause {
        /// Its name.
        source: String,
    },
    /// A source that is paused or stopped goes on.
    Resume {
        /// Its name.
        source: String,
    },
    /// A source that is stopped passes over the transaction that stopped it.
    Skip {
        /// Its name.
        source: String,
    },
    /// A source is copied once more.
    CopyAgain {
        /// Its name.
        source: String,
        /// Only these tables of it; none: all of it.
        #[serde(default)]
        tables: Vec<String>,
    },
    /// A source is held for a comparison, for some seconds.
    Hold {
        /// Its name.
        source: String,
        /// Who compares: a number of one's own.
        by: u64,
        /// The GTID position at which it is held; without one, where it is.
        until: Option<String>,
    },
    /// A source that is held goes on.
    Release {
        /// Its name.
        source: String,
        /// Who compares.
        by: u64,
    },
    /// The agent ends.
    Stop,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// How all sources stand.
    Status {
        /// In the order of the configuration.
        sources: Vec<SourceStatus>,
    },
    /// How far a hold is.
    Hold {
        /// Whether it is held.
        state: HoldState,
    },
    /// It is done, or will be.
    Done,
    /// It cannot be done.
    Refused {
        /// Why.
        reason: String,
    },
}

/// Asks the agent at a socket.
///
/// # Errors
/// Of the socket, and [`io::ErrorKind::InvalidData`] for an answer that is none.
pub fn ask(socket: &Path, request: &Request) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write_line(&mut stream, request)?;
    read_line(&stream)
}

fn write_line(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn read_line<T: for<'de> Deserialize<'de>>(stream: &UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    BufReader::new(stream.take(LINE_LIMIT_BYTES)).read_until(b'\n', &mut line)?;
    serde_json::from_slice(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
