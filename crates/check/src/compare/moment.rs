//! The connections to both sides, and the one moment that all of a side's connections see.
//!
//! Snapshots of several connections are opened one after the other, without stopping anybody. Whether a transaction came
//! between is seen from InnoDB's counter of transaction ids, which each that writes moves when it begins and when it
//! commits: where it stands the same before the first snapshot and after the last, all see the same. On a server that is
//! written to all the time that never happens; `lock` then stops the writers for that moment.

use std::thread;
use std::time::Duration;

use hortator_mysql::{Connection, Error as ServerError};

use super::{Error, Options, Side, Which};

/// How often snapshots are opened again because somebody wrote meanwhile.
const TRIES: usize = 10;
/// Before the counter is believed: a commit that had taken its id just before is visible by then.
const SETTLING: Duration = Duration::from_millis(20);
/// Longer than anybody lets a comparison stand still, in seconds.
const IDLE_LIMIT_S: u32 = 31_536_000;

/// A connection to each side that sees what is there now: for names, definitions and ends of ranges.
pub(super) struct Connected {
    connections: [Connection; 2],
    addresses: [String; 2],
}

/// The readers of one side.
pub(super) struct Readers {
    pub(super) connections: Vec<Connection>,
    pub(super) moment: Moment,
}

/// Whether the readers of a side see the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// They do.
    One,
    /// Somebody wrote each time while the snapshots began.
    Disturbed,
    /// The server does not tell.
    Untold,
}

pub(super) fn connect(sides: &[Side; 2]) -> Result<Connected, Error> {
    let addresses = sides.each_ref().map(|side| side.connect.address.to_string());
    let open = |which: Which| {
        open(&sides[which.index()]).map_err(|source| failed(which, &addresses[which.index()], "connecting", source))
    };
    Ok(Connected { connections: [open(Which::First)?, open(Which::Second)?], addresses })
}

fn failed(which: Which, address: &str, doing: &str, source: ServerError) -> Error {
    Error::Server { which, address: address.to_owned(), doing: doing.to_owned(), source: Box::new(source) }
}

impl Connected {
    /// Does the same on both sides at the same time.
    pub(super) fn both<T: Send>(
        &mut self,
        doing: &str,
        action: impl Fn(&mut Connection, Which) -> Result<T, ServerError> + Sync,
    ) -> Result<[T; 2], Error> {
        let [first, second] = &mut self.connections;
        let outcomes = at_once(|| action(first, Which::First), || action(second, Which::Second));
        let [first, second] = outcomes;
        let failed = |which: Which| {
            let address = &self.addresses[which.index()];
            move |source| failed(which, address, doing, source)
        };
        Ok([first.map_err(failed(Which::First))?, second.map_err(failed(Which::Second))?])
    }

    /// An error of one side's readers.
    pub(super) fn error(&self, which: Which, doing: &str, source: ServerError) -> Error {
        failed(which, &self.addresses[which.index()], doing, source)
    }
}

/// Runs two things side by side, one of them here.
pub(super) fn at_once<T: Send>(first: impl FnOnce() -> T, second: impl FnOnce() -> T + Send) -> [T; 2] {
    thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        match second.join() {
            Ok(second) => [first, second],
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A session of which nothing ends but its end, that sees what a cluster has agreed on before.
pub(super) fn open(side: &Side) -> Result<Connection, ServerError> {
    let mut connect = side.connect.clone();
    connect.database = None;
    connect.charset = "utf8mb4".to_owned();
    let mut connection = Connection::open(&connect)?;
    let idle = format!("SET SESSION wait_timeout = {IDLE_LIMIT_S}, net_write_timeout = {IDLE_LIMIT_S}");
    connection.execute(idle.as_bytes())?;
    connection.execute(b"SET SESSION sql_mode = '', time_zone = '+00:00', sql_quote_show_create = 1")?;
    // Each of these is unknown to some servers: to MySQL, to those without Galera, to MariaDB.
    for setting in ["max_statement_time = 0", "wsrep_sync_wait = 1", "max_execution_time = 0"] {
        match connection.execute(format!("SET SESSION {setting}").as_bytes()) {
            Ok(_) | Err(ServerError::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(connection)
}

/// Opens the readers of one side, each in a snapshot.
pub(super) fn readers(side: &Side, options: &Options) -> Result<Readers, ServerError> {
    let mut connections = Vec::new();
    for _ in 0..options.threads.max(1) {
        let mut connection = open(side)?;
        connection.execute(b"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        connection.execute(b"SET SESSION character_set_results = NULL")?;
        connections.push(connection);
    }
    if options.lock {
        connections[0].execute(b"FLUSH TABLES WITH READ LOCK")?;
        let begun = begin(&mut connections);
        connections[0].execute(b"UNLOCK TABLES")?;
        return begun.map(|()| Readers { connections, moment: Moment::One });
    }
    for _ in 0..TRIES {
        let before = latest_transaction(&mut connections[0])?;
        thread::sleep(SETTLING);
        begin(&mut connections)?;
        let after = latest_transaction(&mut connections[0])?;
        if connections.len() == 1 || (before.is_some() && before == after) {
            return Ok(Readers { connections, moment: Moment::One });
        }
        if before.is_none() {
            return Ok(Readers { connections, moment: Moment::Untold });
        }
    }
    Ok(Readers { connections, moment: Moment::Disturbed })
}

/// A snapshot for each; one that is open ends with it.
fn begin(connections: &mut [Connection]) -> Result<(), ServerError> {
    for connection in connections {
        connection.execute(b"START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    }
    Ok(())
}

/// InnoDB's next transaction id, where the server tells it.
fn latest_transaction(connection: &mut Connection) -> Result<Option<Vec<u8>>, ServerError> {
    let rows = connection.fetch(b"SHOW GLOBAL STATUS LIKE 'Innodb_max_trx_id'")?;
    Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten())
}
