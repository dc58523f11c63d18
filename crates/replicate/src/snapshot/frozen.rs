//! A source as it stands at one place of its log: a connection in a transaction WITH CONSISTENT SNAPSHOT, and locks on the
//! tables that have no snapshot.

use hortator_mysql::{ConnectOptions, Connection};

use super::inventory::{LOCKED_QUERY_TAIL, quoted_table};
use super::{Error, SYSTEM_SCHEMAS, Scope, mysql_moment};
use crate::apply::SourcePosition;
use crate::query::texts;
use crate::rules::Rules;
use crate::source::with_gtid;
use crate::transaction::LogPosition;

/// Values are read as they are stored. The copy may wait for the target for long, and the source for the copy. Limits of older
/// versions are not known there.
const SESSION: [&str; 6] = [
    "SET SESSION sql_mode = '', time_zone = '+00:00', sql_select_limit = 18446744073709551615, \
     sql_big_selects = 1",
    "SET SESSION max_execution_time = 0",
    "SET SESSION wait_timeout = 31536000, net_write_timeout = 31536000, net_read_timeout = 31536000",
    "SET SESSION max_statement_time = 0",
    "SET SESSION idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0",
    "SET SESSION lock_wait_timeout = 20",
];

/// The source as it stands.
pub(super) struct Frozen {
    /// In the transaction of the snapshot.
    pub(super) connection: Connection,
    /// The place of the log.
    pub(super) position: SourcePosition,
    /// Tables that are locked, quoted.
    pub(super) locked: Vec<Vec<u8>>,
    /// Holds the locks.
    locks: Option<Connection>,
}

/// A connection to the source that may be idle for long.
pub(super) fn connect(source: &ConnectOptions) -> Result<Connection, Error> {
    let mut connection = Connection::open(source).map_err(Error::source("connecting to the source"))?;
    for (number, setting) in SESSION.iter().enumerate() {
        match connection.execute(setting.as_bytes()) {
            Ok(_) => {}
            Err(hortator_mysql::Error::Server(_)) if number > 0 => {}
            Err(error) => return Err(Error::source("setting the session")(error)),
        }
    }
    Ok(connection)
}

/// The tables of a source that have no snapshot, as schema and name.
pub(crate) fn non_transactional_tables(connection: &mut Connection) -> Result<Vec<[String; 2]>, hortator_mysql::Error> {
    let query = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {SYSTEM_SCHEMAS} AND \
         {LOCKED_QUERY_TAIL} ORDER BY 1, 2"
    );
    let rows = texts(connection, query.as_bytes())?;
    Ok(rows.into_iter().filter_map(|row| <[String; 2]>::try_from(row).ok()).collect())
}

/// Those of them that are copied. `positions` is the schema that is not.
pub(super) fn locked_tables(
    connection: &mut Connection,
    positions: &str,
    rules: &Rules,
    scope: &Scope,
) -> Result<Vec<[String; 2]>, Error> {
    let mut listed = non_transactional_tables(connection).map_err(Error::source("listing the source's tables"))?;
    listed.retain(|[schema, table]| {
        let on_target = rules.name_on_target(schema.as_bytes(), table.as_bytes());
        schema != positions && on_target.is_some_and(|(schema, table)| scope.has(&schema, &table))
    });
    Ok(listed)
}

impl Frozen {
    /// Takes the snapshot. `positions` is the schema that is not copied. `tell` tells a person something.
    pub(super) fn open(
        source: &ConnectOptions,
        positions: &str,
        rules: &Rules,
        scope: &Scope,
        tell: &dyn Fn(&str),
    ) -> Result<Frozen, Error> {
        let mut connection = connect(source)?;
        let listed = locked_tables(&mut connection, positions, rules, scope)?;
        let copied = listed.iter();
        let locked: Vec<Vec<u8>> =
            copied.map(|[schema, table]| quoted_table(schema.as_bytes(), table.as_bytes())).collect();
        let lock_all = || if locked.is_empty() { Ok(None) } else { lock(source, &locked).map(Some) };
        if connection.version().is_mariadb() {
            let locks = lock_all()?;
            mysql_moment::begin(&mut connection)?;
            let position = snapshot_position(&mut connection)?;
            return Ok(Frozen { connection, position, locked, locks });
        }
        let locks = lock_all()?;
        let mut readers = [connection];
        if let Some(position) = mysql_moment::without_lock(&mut readers)? {
            let [connection] = readers;
            return Ok(Frozen { connection, position, locked, locks });
        }
        // The lock on everything waits for those on tables.
        drop(locks);
        tell("locks the source for the moment of the snapshot (FLUSH TABLES WITH READ LOCK)");
        let mut control = connect(source)?;
        let [mut connection] = readers;
        let (locks, position) = mysql_moment::with_lock(&mut control, || {
            let locks = lock_all()?;
            mysql_moment::begin(&mut connection)?;
            Ok(locks)
        })?;
        Ok(Frozen { connection, position, locked, locks })
    }

    /// Lets the tables go that have no snapshot: their rows are read.
    pub(super) fn unlock(&mut self) -> Result<(), Error> {
        let Some(mut locks) = self.locks.take() else { return Ok(()) };
        // An error means that they were not locked all the time.
        locks.execute(b"UNLOCK TABLES").map(drop).map_err(Error::source("unlocking the source's tables"))
    }
}

fn lock(source: &ConnectOptions, tables: &[Vec<u8>]) -> Result<Connection, Error> {
    let mut connection = connect(source)?;
    let list: Vec<Vec<u8>> = tables.iter().map(|table| [table, &b" READ"[..]].concat()).collect();
    let statement = [b"LOCK TABLES ".as_slice(), &list.join(&b", "[..])].concat();
    match connection.execute(&statement) {
        Err(hortator_mysql::Error::Server(error)) if error.code == NO_SUCH_TABLE => {
            Err(Error::Changed(error.to_string()))
        }
        done => done.map(|_| connection).map_err(Error::source("locking the tables that have no snapshot")),
    }
}

const NO_SUCH_TABLE: u16 = 1146;

/// The place of the log that belongs to the snapshot.
pub(crate) fn snapshot_position(connection: &mut Connection) -> Result<SourcePosition, Error> {
    let rows = texts(connection, b"SHOW STATUS LIKE 'binlog\\_snapshot\\_%'")
        .map_err(Error::source("asking for the position"))?;
    let value = |wanted: &str| {
        let is_it = |row: &&Vec<String>| row.first().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
        rows.iter().find(is_it).and_then(|row| row.get(1)).cloned().unwrap_or_default()
    };
    let (file, position) = (value("binlog_snapshot_file"), value("binlog_snapshot_position").parse());
    match position {
        Ok(position) if !file.is_empty() => {
            Ok(with_gtid(connection, LogPosition { file: file.into_bytes(), position })?)
        }
        _ => Err(Error::Refused("the source writes no binary log: set log_bin there".to_owned())),
    }
}
