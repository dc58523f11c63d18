//! Drops the keys of a table, and builds keys: the statements for the server, on a connection with settings of our own.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::catalog::{self, TableName};
use hortator_mysql::error::{LOCK_WAIT_TIMEOUT, NO_SUCH_TABLE, UNKNOWN_DATABASE};
use hortator_mysql::{Connection, Error, quote_identifier};

use super::definition::{self, KeptReason, Key};
use super::{MissingKeys, Origin};

/// How long the drop of a table's keys waits for others that use the table, in seconds. Then the keys stay.
pub(super) const DROP_TIMEOUT_S: u32 = 5;

/// How long the first attempt to build keys waits for others that use the table; each further one twice as long.
const FIRST_LIMIT: Duration = Duration::from_secs(5);
/// Between two attempts, those who wait for the table get it.
const TURN_OF_OTHERS: Duration = Duration::from_secs(1);
/// Others have written more to the table than the server keeps beside a build.
const TOO_MANY_WRITES: u16 = 1799;
/// The server cannot do it in place.
const NOT_IN_PLACE: [u16; 2] = [1845, 1846];

/// Errors of a server that has no room for sorting: a temporary file cannot be made, or it or a data file cannot grow.
const NO_ROOM: [u16; 7] = [1, 3, 20, 1021, 1026, 1114, 1878];
const INTERRUPTED: u16 = 1317;
const DUPLICATE_KEY_NAME: u16 = 1061;
/// Keys that depend on the session would differ: the server prints and reads definitions with these settings.
const SETTINGS: &[u8] =
    b"SET SESSION sql_mode = '', sql_quote_show_create = 1, foreign_key_checks = 1, max_statement_time = 0, old_mode = DEFAULT";
/// Beyond these, on a server that is no node of a cluster.
const SETTINGS_OF_SINGLE: &[u8] = b"SET SESSION innodb_strict_mode = 0";
/// The same on a node. Other nodes run a statement with their own innodb_strict_mode, and one that succeeds here and fails
/// there would divide the cluster. What a former writer has sent must be done before a definition is read: SELECT (1) and
/// SHOW (8) wait for it.
const SETTINGS_OF_NODE: &[u8] = b"SET SESSION wsrep_sync_wait = 9, wsrep_OSU_method = 'TOI'";
/// How often keys are built anew on a node that is behind, or whose cluster changes. It is waited for `repl.causal_read_timeout`
/// (30 s) each time: an ALTER TABLE of a former writer may take hours.
const ATTEMPTS_LIMIT: u32 = 500;
/// The same on a single server, where another load may have built them.
const ATTEMPTS_OF_SINGLE: u32 = 5;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(200);

/// Prepares a connection; returns whether it leads to a node of a cluster.
pub(crate) fn settings(connection: &mut Connection) -> Result<bool, Error> {
    connection.execute(SETTINGS)?;
    let wsrep_on = connection.fetch(b"SHOW SESSION VARIABLES LIKE 'wsrep_on'")?;
    let is_node = wsrep_on.first().and_then(|row| row.get(1)?.as_deref()) == Some(b"ON");
    connection.execute(if is_node { SETTINGS_OF_NODE } else { SETTINGS_OF_SINGLE })?;
    Ok(is_node)
}

/// The keys of a table that can be built after its rows, or why there are none. From here on, the connection does not wait
/// long for others: not for the definitions of tables that refer to this one, nor for the drop.
/// `patience_s`: how long, in seconds.
pub(super) fn deferrable(
    connection: &mut Connection,
    table: &TableName,
    origin: Origin,
    patience_s: u32,
) -> Result<Result<Vec<Key>, KeptReason>, Error> {
    connection.execute(format!("SET SESSION lock_wait_timeout = {patience_s}").as_bytes())?;
    let Some(definition) = definition_of(connection, table)? else { return Ok(Err("it does not exist")) };
    let mut referenced = BTreeSet::new();
    for child in catalog::children(connection, table)?.iter().filter(|child| *child != table) {
        let names = definition_of(connection, child)?.and_then(|text| definition::names_in_foreign_keys(&text));
        match names {
            Some(names) => referenced.extend(names),
            None => return Ok(Err("a foreign key that refers to it is not shown to this account")),
        }
    }
    // Nobody says with which list the index of a table that was there was made.
    let has_default_stopwords =
        !definition::has_fulltext(&definition) || origin == Origin::Created && has_default_stopwords(connection)?;
    Ok(definition::deferrable(&definition, &referenced, has_default_stopwords))
}

/// Whether this session and the server leave the default list of words out of FULLTEXT keys.
fn has_default_stopwords(connection: &mut Connection) -> Result<bool, Error> {
    const DEFAULTS: &[u8] =
        b"SELECT @@innodb_ft_enable_stopword = 1 AND IFNULL(@@innodb_ft_user_stopword_table, '') = '' \
                              AND IFNULL(@@innodb_ft_server_stopword_table, '') = ''";
    let rows = connection.fetch(DEFAULTS)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()) == Some(b"1"))
}

/// Drops keys.
pub(super) fn drop_keys(connection: &mut Connection, table: &TableName, keys: &[Key]) -> Result<(), Error> {
    let drops: Vec<Vec<u8>> =
        keys.iter().map(|key| [b"DROP KEY ".as_slice(), &quote_identifier(&key.name)].concat()).collect();
    let alter = [b"ALTER TABLE ".as_slice(), &quoted(table), b" ALGORITHM=NOCOPY, ", &drops.join(&b", "[..])].concat();
    connection.execute(&alter).map(drop)
}

/// Adds the keys that are not there, and waits for others as long as the server's setting says, which `on_wait` is told after
/// the first attempt; returns how long each statement took. `None` where the table is gone, and nothing is to be done.
///
/// It begins with short attempts. While an ALTER TABLE waits for transactions that use the table, whoever begins to use it waits
/// for the ALTER TABLE. Such a transaction may itself wait for one that begins, as where another load commits in order: without
/// an end of the attempt, none of the three goes on.
pub(crate) fn build(
    connection: &mut Connection,
    missing: &MissingKeys,
    is_node: bool,
    on_wait: impl Fn(),
) -> Result<Option<Vec<Duration>>, Error> {
    let patience = patience(connection)?;
    let mut limit = FIRST_LIMIT.min(patience);
    let mut took = Vec::new();
    let mut attempts = 0;
    let begin = Instant::now();
    loop {
        connection.execute(format!("SET SESSION lock_wait_timeout = {}", limit.as_secs()).as_bytes())?;
        match build_absent(connection, missing, &mut took) {
            Err(error) if error.code() == Some(LOCK_WAIT_TIMEOUT) && begin.elapsed() < patience => {
                on_wait();
                limit = (2 * limit).min(patience);
                thread::sleep(TURN_OF_OTHERS);
            }
            Err(error) if may_pass(&error, is_node, attempts) => {
                attempts += 1;
                thread::sleep(ATTEMPT_INTERVAL);
            }
            built => return built.map(|is_there| is_there.then_some(took)),
        }
    }
}

/// How long the server has statements wait for the definition of a table.
fn patience(connection: &mut Connection) -> Result<Duration, Error> {
    let rows = connection.fetch(b"SELECT @@GLOBAL.lock_wait_timeout")?;
    let seconds = rows.first().and_then(|row| std::str::from_utf8(row.first()?.as_deref()?).ok()?.parse().ok());
    Ok(Duration::from_secs(seconds.unwrap_or(0)))
}

/// Whether keys may be built when it is asked again. A key may be there already: another load builds them too, or a node has
/// sent the statement twice while nodes are lost. A node that takes no statements at all is left.
fn may_pass(error: &Error, is_node: bool, attempts: u32) -> bool {
    let limit = if is_node { ATTEMPTS_LIMIT } else { ATTEMPTS_OF_SINGLE };
    if attempts >= limit {
        return false;
    }
    error.code() == Some(DUPLICATE_KEY_NAME) || (is_node && error.is_transient() && !error.is_unready())
}

/// The keys that are not there; `None` where the table is gone.
pub(super) fn absent_keys<'k>(
    connection: &mut Connection,
    missing: &'k MissingKeys,
) -> Result<Option<Vec<&'k Key>>, Error> {
    let Some(definition) = definition_of(connection, &missing.table)? else { return Ok(None) };
    let present = definition::key_names(&definition).unwrap_or_default();
    Ok(Some(missing.keys.iter().filter(|key| !present.contains(key.name.as_bytes())).collect()))
}

/// Adds the keys that are not there; returns whether the table is.
fn build_absent(connection: &mut Connection, missing: &MissingKeys, took: &mut Vec<Duration>) -> Result<bool, Error> {
    let Some(absent) = absent_keys(connection, missing)? else { return Ok(false) };
    for keys in definition::by_statement(&absent) {
        let start = Instant::now();
        match connection.execute(&add(&missing.table, &keys, "ALGORITHM=NOCOPY, ")) {
            Err(error) if error.code().is_some_and(|code| NOT_IN_PLACE.contains(&code)) => {
                connection.execute(&add(&missing.table, &keys, ""))?;
            }
            Err(error) if error.code() == Some(TOO_MANY_WRITES) => {
                connection.execute(&add(&missing.table, &keys, "ALGORITHM=NOCOPY, LOCK=SHARED, "))?;
            }
            built => drop(built?),
        }
        took.push(start.elapsed());
    }
    Ok(true)
}

/// The statements that add all keys, for a user.
pub(crate) fn alter_text(missing: &MissingKeys) -> String {
    let keys: Vec<&Key> = missing.keys.iter().collect();
    let alters = definition::by_statement(&keys).into_iter().map(|keys| add(&missing.table, &keys, ""));
    String::from_utf8_lossy(&alters.collect::<Vec<_>>().join(&b"; "[..])).into_owned()
}

/// What a user is told where keys cannot be built.
pub(crate) fn failure_message(missing: &MissingKeys, error: &Error) -> String {
    let found = match error {
        Error::Server(refusal) => refusal.message.clone(),
        other => other.to_string(),
    };
    let hint = match error.code() {
        Some(code) if NO_ROOM.contains(&code) => {
            "; the server sorts the keys in innodb_tmpdir or tmpdir: make room there, or set innodb_tmpdir to a larger directory"
        }
        Some(LOCK_WAIT_TIMEOUT) => "; another session uses the table: end its transaction",
        Some(INTERRUPTED) => "; somebody has killed the statement",
        _ => "",
    };
    format!(
        "the rows of {} are loaded, but its deferred indexes could not be built: {found}{hint}; then resume the load with --resume, or \
         run: {}",
        missing.table,
        alter_text(missing),
    )
}

fn add(table: &TableName, keys: &[&Key], algorithm: &str) -> Vec<u8> {
    let adds: Vec<String> = keys.iter().map(|key| format!("ADD {}", key.definition)).collect();
    [b"ALTER TABLE ".as_slice(), &quoted(table), b" ", algorithm.as_bytes(), adds.join(", ").as_bytes()].concat()
}

fn quoted(table: &TableName) -> Vec<u8> {
    [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.')
}

/// What the server prints of a table; `None` where it is not there.
fn definition_of(connection: &mut Connection, table: &TableName) -> Result<Option<Vec<u8>>, Error> {
    match connection.fetch(&[b"SHOW CREATE TABLE ".as_slice(), &quoted(table)].concat()) {
        Ok(rows) => Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)?)),
        Err(error) if matches!(error.code(), Some(NO_SUCH_TABLE | UNKNOWN_DATABASE)) => Ok(None),
        Err(error) => Err(error),
    }
}
