//! The connections to both endpoints, and the snapshot that all connections to an endpoint share.
//!
//! The snapshots of several connections are opened one after the other, without locking out writers. InnoDB's counter
//! of transaction ids shows whether a transaction came between: every writing transaction advances it at its start and
//! at its commit. If the counter is the same before the first snapshot and after the last, all see the same. On a
//! server with constant writes that never happens; `lock` then locks out the writers while the snapshots are opened.

use std::thread;
use std::time::Duration;

use hortator_mysql::{ConnectOptions, Connection, Error as ServerError};

use super::{Endpoint, Error, Options, Which};

/// The number of attempts to open the snapshots without a concurrent write.
const ATTEMPTS: usize = 10;
/// The delay before the counter is valid: a commit that took its id just before is visible after it.
const COMMIT_VISIBILITY_DELAY: Duration = Duration::from_millis(20);
/// Longer than any pause of a comparison, in seconds.
const IDLE_TIMEOUT_S: u32 = 31_536_000;

/// Settings that some servers do not know: MySQL, servers without Galera, older versions, MariaDB.
const UNKNOWN_TO_SOME: [&str; 4] = [
    "max_statement_time = 0",
    "wsrep_sync_wait = 1",
    "idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0",
    "max_execution_time = 0",
];

/// A connection to each endpoint that sees current data: for names, definitions and bounds of ranges.
pub(super) struct Connected {
    connections: [Connection; 2],
    addresses: [String; 2],
}

/// The readers of one endpoint.
pub(super) struct Readers {
    pub(super) connections: Vec<Connection>,
    pub(super) snapshot: Snapshot,
}

/// Whether all readers of an endpoint see the same snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snapshot {
    /// All see the same.
    Consistent,
    /// There was a write at each attempt to open the snapshots.
    Inconsistent,
    /// The server does not report writes.
    Unknown,
}

pub(super) fn connect(endpoints: &[Endpoint; 2]) -> Result<Connected, Error> {
    let addresses = endpoints.each_ref().map(|endpoint| endpoint.connect.address.to_string());
    let open = |which: Which| {
        open(&endpoints[which.index()]).map_err(|source| failed(which, &addresses[which.index()], "connecting", source))
    };
    Ok(Connected { connections: [open(Which::First)?, open(Which::Second)?], addresses })
}

fn failed(which: Which, address: &str, action: &str, source: ServerError) -> Error {
    Error::Server { which, address: address.to_owned(), action: action.to_owned(), source: Box::new(source) }
}

impl Connected {
    /// Runs the same query at both endpoints in parallel.
    pub(super) fn both<T: Send>(
        &mut self,
        action: &str,
        query: impl Fn(&mut Connection, Which) -> Result<T, ServerError> + Sync,
    ) -> Result<[T; 2], Error> {
        let [first, second] = &mut self.connections;
        let outcomes = run_both(|| query(first, Which::First), || query(second, Which::Second));
        let [first, second] = outcomes;
        let failed = |which: Which| {
            let address = &self.addresses[which.index()];
            move |source| failed(which, address, action, source)
        };
        Ok([first.map_err(failed(Which::First))?, second.map_err(failed(Which::Second))?])
    }

    /// An error of one endpoint's readers.
    pub(super) fn error(&self, which: Which, action: &str, source: ServerError) -> Error {
        failed(which, &self.addresses[which.index()], action, source)
    }
}

/// Runs two functions in parallel, one of them in this thread.
pub(super) fn run_both<T: Send>(first: impl FnOnce() -> T, second: impl FnOnce() -> T + Send) -> [T; 2] {
    thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        match second.join() {
            Ok(second) => [first, second],
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A session without timeouts, which sees everything that the cluster has committed before.
pub(super) fn open(endpoint: &Endpoint) -> Result<Connection, ServerError> {
    open_session(&endpoint.connect)
}

/// The same for the connection options of an endpoint.
///
/// # Errors
/// When the server cannot be reached, or refuses a setting.
pub fn open_session(connect: &ConnectOptions) -> Result<Connection, ServerError> {
    let mut connect = connect.clone();
    connect.database = None;
    connect.charset = "utf8mb4".to_owned();
    let mut connection = Connection::open(&connect)?;
    let idle = format!("SET SESSION wait_timeout = {IDLE_TIMEOUT_S}, net_write_timeout = {IDLE_TIMEOUT_S}");
    connection.execute(idle.as_bytes())?;
    connection
        .execute(b"SET SESSION sql_mode = '', time_zone = '+00:00', sql_quote_show_create = 1, sql_big_selects = 1")?;
    for setting in UNKNOWN_TO_SOME {
        match connection.execute(format!("SET SESSION {setting}").as_bytes()) {
            Ok(_) | Err(ServerError::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(connection)
}

/// Opens the readers of one endpoint, each with a snapshot.
pub(super) fn readers(endpoint: &Endpoint, options: &Options) -> Result<Readers, ServerError> {
    let mut connections = Vec::new();
    for _ in 0..options.threads.max(1) {
        let mut connection = open(endpoint)?;
        connection.execute(b"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        connection.execute(b"SET SESSION character_set_results = NULL")?;
        connections.push(connection);
    }
    if options.lock {
        connections[0].execute(b"FLUSH TABLES WITH READ LOCK")?;
        let begun = begin(&mut connections);
        connections[0].execute(b"UNLOCK TABLES")?;
        return begun.map(|()| Readers { connections, snapshot: Snapshot::Consistent });
    }
    for _ in 0..ATTEMPTS {
        let before = latest_transaction(&mut connections[0])?;
        thread::sleep(COMMIT_VISIBILITY_DELAY);
        begin(&mut connections)?;
        let after = latest_transaction(&mut connections[0])?;
        if connections.len() == 1 || (before.is_some() && before == after) {
            return Ok(Readers { connections, snapshot: Snapshot::Consistent });
        }
        if before.is_none() {
            return Ok(Readers { connections, snapshot: Snapshot::Unknown });
        }
    }
    Ok(Readers { connections, snapshot: Snapshot::Inconsistent })
}

/// Opens a snapshot in each connection; ends an open one.
fn begin(connections: &mut [Connection]) -> Result<(), ServerError> {
    for connection in connections {
        connection.execute(b"START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    }
    Ok(())
}

/// InnoDB's next transaction id, if the server reports it.
fn latest_transaction(connection: &mut Connection) -> Result<Option<Vec<u8>>, ServerError> {
    let rows = connection.fetch(b"SHOW GLOBAL STATUS LIKE 'Innodb_max_trx_id'")?;
    Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten())
}
