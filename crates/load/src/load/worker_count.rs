//! How many workers a load has, unless the user says so.

use hortator_mysql::{Connection, Error};

/// Workers for every two cores of the server: while one waits for the disk or for its commit slot, another computes.
/// Measured on two cores: 3, 4 and 6 are within a tenth of each other; more only wait for each other in the server.
const WORKERS_PER_TWO_CORES: usize = 3;
/// Workers for a server that does not report its number of cores.
const DEFAULT_WORKERS: usize = 8;
/// Most workers that a load chooses itself.
const WORKERS_CHOSEN_LIMIT: usize = 16;

/// A number of workers, and the reason for it.
pub(super) struct WorkerCount {
    pub(super) threads: usize,
    pub(super) reason: String,
}

impl WorkerCount {
    /// The number that the user asks for, or else one for the server's cores.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(super) fn choose(asked: Option<usize>, connection: &mut Connection) -> Result<Self, Error> {
        if let Some(threads) = asked {
            return Ok(Self { threads: threads.max(1), reason: "--threads".to_owned() });
        }
        Ok(match cores(connection)? {
            Some(cores) => Self {
                threads: (cores * WORKERS_PER_TWO_CORES / 2).clamp(2, WORKERS_CHOSEN_LIMIT),
                reason: format!("the server has {cores} cores"),
            },
            None => {
                Self { threads: DEFAULT_WORKERS, reason: "the server does not report its number of cores".to_owned() }
            }
        })
    }
}

/// The server's cores, as MariaDB takes them for its thread pool's size. MySQL does not say; on this machine it has ours.
fn cores(connection: &mut Connection) -> Result<Option<usize>, Error> {
    match connection.fetch(b"SELECT @@thread_pool_size") {
        Ok(rows) => {
            let value = rows.first().and_then(|row| row.first()?.as_deref());
            Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()))
        }
        Err(Error::Server(_)) if connection.is_local() => {
            Ok(std::thread::available_parallelism().ok().map(std::num::NonZero::get))
        }
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
