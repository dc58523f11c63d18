//! Whether other transactions wait for the locks of a connection.

use hortator_mysql::{Connection, Error, Flavor};

/// MariaDB, for accounts with the PROCESS privilege.
const OF_MARIADB: &[u8] = b"SELECT 1 FROM information_schema.INNODB_LOCK_WAITS w \
    JOIN information_schema.INNODB_TRX t ON t.trx_id = w.blocking_trx_id \
    WHERE t.trx_mysql_thread_id = CONNECTION_ID() LIMIT 1";
/// MySQL since 8.0, for accounts that may read the performance schema too; it tells nothing where that is off. By the
/// transaction, as the lock on a row that was just inserted carries the thread of whoever asked for it first.
const OF_MYSQL: &[u8] = b"SELECT 1 FROM performance_schema.data_lock_waits w \
    JOIN information_schema.INNODB_TRX t ON t.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID \
    WHERE t.trx_mysql_thread_id = CONNECTION_ID() LIMIT 1";
const TELLS: &[u8] = b"SELECT @@performance_schema";

/// Whether another transaction waits for the locks of the connection's; `None` where the server does not say.
///
/// # Errors
/// A lost connection, or that the transaction was rolled back.
pub fn blocks_others(connection: &mut Connection) -> Result<Option<bool>, Error> {
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
    match connection.fetch(question) {
        Ok(rows) => Ok(Some(!rows.is_empty())),
        // A cluster has rolled the transaction back while it waited, and this is the answer that says so.
        Err(error) if error.is_transient() => Err(error),
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
