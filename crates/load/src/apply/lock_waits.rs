//! Which connections hold row locks that others wait for.
//!
//! InnoDB of MariaDB shows everybody the same picture of its locks until nobody has looked for 0.1 s. Workers that each look
//! for themselves would keep it from changing, so they share what one of them has seen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error, Flavor};

/// MariaDB, for accounts with the PROCESS privilege.
const OF_MARIADB: &[u8] = b"SELECT DISTINCT t.trx_mysql_thread_id FROM information_schema.INNODB_LOCK_WAITS w \
    JOIN information_schema.INNODB_TRX t ON t.trx_id = w.blocking_trx_id";
/// MySQL since 8.0, for accounts that may read the performance schema too; it tells nothing where that is off. By the
/// transaction, as the lock on a row that was just inserted carries the thread of whoever asked for it first.
const OF_MYSQL: &[u8] = b"SELECT DISTINCT t.trx_mysql_thread_id FROM performance_schema.data_lock_waits w \
    JOIN information_schema.INNODB_TRX t ON t.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID";
const TELLS: &[u8] = b"SELECT @@performance_schema";

/// How long an answer is good; more than InnoDB's 0.1 s.
const ANSWER_LIFE: Duration = Duration::from_millis(250);

/// Whether other transactions wait for the locks of a connection, asked for by all workers of a load.
#[derive(Debug, Default)]
pub struct LockWaits {
    latest: Mutex<Option<Answer>>,
}

#[derive(Debug)]
struct Answer {
    at: Instant,
    /// The connections that others wait for; `None` where the server does not say.
    holders: Option<Vec<u32>>,
}

impl LockWaits {
    /// Whether another transaction waits for the locks of the connection's, a quarter of a second ago or now; `None` where
    /// the server does not say.
    ///
    /// # Errors
    /// A lost connection, or that the transaction was rolled back.
    pub fn blocks_others(&self, connection: &mut Connection) -> Result<Option<bool>, Error> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = latest.take().filter(|answer| answer.at.elapsed() < ANSWER_LIFE);
        let answer = match known {
            Some(answer) => answer,
            None => Answer { holders: holders(connection)?, at: Instant::now() },
        };
        let answer = latest.insert(answer);
        Ok(answer.holders.as_ref().map(|holders| holders.contains(&connection.id())))
    }
}

fn holders(connection: &mut Connection) -> Result<Option<Vec<u32>>, Error> {
    let question = match connection.version().flavor {
        Flavor::MariaDb => OF_MARIADB,
        Flavor::MySql => {
            let tells = connection.fetch(TELLS)?;
            if tells.first().and_then(|row| row.first()?.as_deref()) != Some(b"1") {
                return Ok(None);
            }
            OF_MYSQL
        }
    };
    let number = |value: &[u8]| std::str::from_utf8(value).ok()?.parse().ok();
    match connection.fetch(question) {
        Ok(rows) => Ok(Some(rows.iter().filter_map(|row| number(row.first()?.as_deref()?)).collect())),
        // A cluster has rolled the transaction back while it waited, and this is the answer that says so.
        Err(error) if error.is_transient() => Err(error),
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
