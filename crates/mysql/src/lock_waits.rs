//! Which connections wait for row locks of which others, and whether any waits for the definition of a table.
//!
//! InnoDB of MariaDB shows everybody the same picture of its locks until nobody has looked for 0.1 s (`INNODB_TRX` and the
//! tables like it in `information_schema`). Threads that each look for themselves would keep it from changing, so those of
//! a program share what one of them has seen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Connection, Error, Flavor};

/// MariaDB, for accounts with the PROCESS privilege.
const OF_MARIADB: &[u8] =
    b"SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.INNODB_LOCK_WAITS w \
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id";
/// MySQL since 8.0, for accounts that may read the performance schema too; it tells nothing where that is off. By the
/// transaction, as the lock on a row that was just inserted carries the thread of whoever asked for it first.
const OF_MYSQL: &[u8] =
    b"SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM performance_schema.data_lock_waits w \
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID";
const TELLS: &[u8] = b"SELECT @@performance_schema";

/// An account sees its own sessions without any privilege. The server does not say for whom they wait.
const OF_DEFINITIONS: &[u8] =
    b"SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(USER(), '@', 1) \
    AND STATE LIKE 'Waiting for%metadata lock' AND ID <> CONNECTION_ID() LIMIT 1";

/// How long a picture is good; more than InnoDB's 0.1 s.
const PICTURE_LIFE: Duration = Duration::from_millis(150);

/// What the server last said of its row locks, for all threads that ask.
#[derive(Debug, Default)]
pub struct LockWaits {
    latest: Mutex<Option<Picture>>,
}

#[derive(Debug)]
struct Picture {
    at: Instant,
    /// Connections that wait, and for which; `None` where the server does not say.
    waits: Option<Vec<(u32, u32)>>,
}

impl LockWaits {
    /// Whether another transaction waits for the locks of this connection's, a moment ago or now; `None` where the server
    /// does not say.
    ///
    /// # Errors
    /// A lost connection, or that the transaction was rolled back.
    pub fn blocks_others(&self, connection: &mut Connection) -> Result<Option<bool>, Error> {
        let id = connection.id();
        self.with_waits(connection, |waits| waits.iter().any(|(_, holder)| *holder == id))
    }

    /// The connections whose row locks `waiting` waits for, a moment ago or now; none where the server does not say.
    ///
    /// # Errors
    /// As above.
    pub fn holders_for(&self, connection: &mut Connection, waiting: u32) -> Result<Vec<u32>, Error> {
        let of_it = |waits: &[(u32, u32)]| waits.iter().filter(|wait| wait.0 == waiting).map(|wait| wait.1).collect();
        Ok(self.with_waits(connection, of_it)?.unwrap_or_default())
    }

    fn with_waits<T>(
        &self,
        connection: &mut Connection,
        read: impl FnOnce(&[(u32, u32)]) -> T,
    ) -> Result<Option<T>, Error> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = latest.take().filter(|picture| picture.at.elapsed() < PICTURE_LIFE);
        let picture = match known {
            Some(picture) => picture,
            None => Picture { waits: ask(connection)?, at: Instant::now() },
        };
        Ok(latest.insert(picture).waits.as_deref().map(read))
    }
}

/// Whether another session of this account waits for the definition of a table (a metadata lock), which any open transaction
/// that has used the table holds up.
///
/// # Errors
/// A lost connection, or that the transaction was rolled back.
pub fn awaits_definition(connection: &mut Connection) -> Result<bool, Error> {
    match connection.fetch(OF_DEFINITIONS) {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(error) if error.is_transient() => Err(error),
        Err(Error::Server(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn ask(connection: &mut Connection) -> Result<Option<Vec<(u32, u32)>>, Error> {
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
    let number = |value: Option<&Option<Vec<u8>>>| std::str::from_utf8(value?.as_deref()?).ok()?.parse().ok();
    match connection.fetch(question) {
        Ok(rows) => Ok(Some(rows.iter().filter_map(|row| Some((number(row.first())?, number(row.get(1))?))).collect())),
        // A cluster has rolled the transaction back while it waited, and this is the answer that says so.
        Err(error) if error.is_transient() => Err(error),
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
