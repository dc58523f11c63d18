//! The loads with checkpoints: start, find, end, discard.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hortator_mysql::{ConnectOptions, Connection, Row};

use super::apart::{anchor, read_anchor};
use super::deferred_keys::{self, FORMAT_WITH_KEYS};
use super::local_journal::{self, Anchor, LocalRecord};
use super::local_record;
use super::session_locks::{await_end, await_key_sessions, claim, holder};
use super::statements::{Statements, hex};
use super::{Error, Identity, State};
use crate::session::open_long_lived;

/// Keeps one load from dropping the schema while another load starts.
const SCHEMA_LOCK: &str = "hortator.schema";
/// How long to wait for that, in seconds.
const SCHEMA_LOCK_TIMEOUT_S: u32 = 30;
/// What servers say where a table has other columns: an unknown one, another number of them.
const OTHER_COLUMNS: [u16; 2] = [1054, 1136];
/// How often another ID is drawn for a new load where a load that runs has the one before.
const DRAWS_LIMIT: u32 = 100;
/// Checkpoints deleted in one transaction.
const REMOVED_AT_ONCE: usize = 10_000;

pub(super) fn connect(options: &ConnectOptions) -> Result<Connection, hortator_mysql::Error> {
    let mut connection = open_long_lived(options)?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// A load's own settings, and the server's defaults, have no say in this. Each statement commits by itself, so the
/// isolation matters to none; but with less than this, a server that logs statements for its replicas refuses them (1665).
pub(super) fn prepare(connection: &mut Connection) -> Result<(), hortator_mysql::Error> {
    // What is sent here holds numbers, quoted names and hexadecimal literals only.
    connection.enable_multi_statements()?;
    let settings = [
        b"SET SESSION sql_mode = '', time_zone = '+00:00'".to_vec(),
        b"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ".to_vec(),
    ];
    connection.fetch_each(&settings).map(drop)
}

/// Registers a new load. Discards the checkpoints of interrupted loads of the same input.
pub(super) fn begin(
    connection: &mut Connection,
    statements: &Statements,
    identity: &Identity,
    threads: usize,
) -> Result<u64, Error> {
    let load_id = claim_new_id(connection, new_id)?;
    with_schema_lock(connection, |connection| {
        let is_new = create(connection, statements)?;
        let input = serde_json::to_string(identity).unwrap_or_default();
        if identity.is_certain() && !is_new {
            for (id, _, _) in loads(connection, statements)?.iter().filter(|(_, found, _)| found == identity) {
                if holder(connection, *id)?.is_none() {
                    if let Some(message) = deferred_keys::restore(connection, statements, *id)?.into_iter().next() {
                        return Err(Error::MissingKeys { load_id: *id, message });
                    }
                    remove(connection, statements, *id)?;
                }
            }
        }
        connection.execute(&statements.begin(load_id, &input, threads))?;
        Ok(())
    })
    .map_err(|error| of_other_columns(statements, error))?;
    Ok(load_id)
}

/// Puts a load on record that was so in the file of `anchor` only.
pub(super) fn register(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    record: &LocalRecord,
    anchor: &Anchor,
) -> Result<(), Error> {
    let input = serde_json::to_string(&record.input).unwrap_or_default();
    let row = statements.register(load_id, &input, record.threads, record.started_at, anchor);
    with_schema_lock(connection, |connection| {
        create(connection, statements)?;
        connection.execute(&row)?;
        Ok(())
    })
    .map_err(|error| of_other_columns(statements, error))
}

/// Says of a table with other columns what it is: one that another version has made, or somebody else.
fn of_other_columns(statements: &Statements, error: Error) -> Error {
    match error {
        Error::Server(hortator_mysql::Error::Server(refusal)) if OTHER_COLUMNS.contains(&refusal.code) => {
            let message = refusal.message;
            let reason = format!(
                "its table `chunks` has other columns ({message}), as another version of Hortator or another program makes them"
            );
            Error::Unavailable { schema: statements.schema().to_owned(), reason }
        }
        other => other,
    }
}

/// Creates the schema and its table if they are missing; gives whether they were.
fn create(connection: &mut Connection, statements: &Statements) -> Result<bool, Error> {
    if is_there(connection, statements)? {
        return Ok(false);
    }
    match connection.fetch_each(&statements.create().map(String::into_bytes)) {
        Err(hortator_mysql::Error::Server(refusal)) => {
            Err(Error::Unavailable { schema: statements.schema().to_owned(), reason: refusal.message })
        }
        done => Ok(done.map(|_| true)?),
    }
}

/// The interrupted load of this input.
pub(super) fn find(connection: &mut Connection, statements: &Statements, identity: &Identity) -> Result<u64, Error> {
    let all = recorded_loads(connection, statements)?;
    let nothing =
        |hint: String| Error::Nothing { input: identity.describe(), schema: statements.schema().to_owned(), hint };
    let same: Vec<_> = all.iter().filter(|(_, found, _)| found == identity).collect();
    match same[..] {
        [(id, _, format)] => check_format(*id, *format),
        [] if let Some((load_id, found, _)) =
            all.iter().find(|(_, found, _)| found.files == identity.files && found.filter != identity.filter) =>
        {
            let differs = found.differs_in_options(identity).unwrap_or_default();
            Err(Error::OtherOptions { load_id: *load_id, differs })
        }
        [] => match all.iter().find(|(_, found, _)| found.has_names_of(identity)) {
            Some((id, found, _)) => Err(nothing(format!(
                ", but one of load {id} of {}: if that is the same dump, --resume={id} resumes it and compares the \
                 loaded statements by their hashes",
                found.describe(),
            ))),
            None => Err(nothing(String::new())),
        },
        _ => Err(Error::Several {
            input: identity.describe(),
            ids: same.iter().map(|(id, _, _)| id.to_string()).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The load with this ID. To resume it, the options of `identity` must match; the files may differ: a pipe has no name,
/// and the user may have repaired the dump.
pub(super) fn find_id(
    connection: &mut Connection,
    statements: &Statements,
    id: u64,
    identity: Option<&Identity>,
) -> Result<u64, Error> {
    let all = recorded_loads(connection, statements)?;
    match all.iter().find(|(found, _, _)| *found == id) {
        Some((load_id, begun, format)) => {
            check_format(*load_id, *format)?;
            let differs = identity.and_then(|identity| begun.differs_in_options(identity));
            differs.map_or(Ok(id), |differs| Err(Error::OtherOptions { load_id: id, differs }))
        }
        None => Err(Error::Nothing {
            input: format!("number {id}"),
            schema: statements.schema().to_owned(),
            hint: String::new(),
        }),
    }
}

fn check_format(load_id: u64, format: u64) -> Result<u64, Error> {
    if format > FORMAT_WITH_KEYS { Err(Error::Newer { load_id, format }) } else { Ok(load_id) }
}

/// Waits until all former sessions of the load have ended, and takes over.
pub(super) fn take_over(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    threads: usize,
) -> Result<(), Error> {
    let before = number(connection, &statements.of_load(load_id, "`last_id`"))?;
    claim(connection, load_id, 0, 5)?;
    for session in (1..=usize::try_from(before).unwrap_or(0)).chain([super::MAIN_SESSION]) {
        await_end(connection, load_id, session)?;
    }
    await_key_sessions(connection, load_id)?;
    connection.execute(&statements.change_load(load_id, &format!("`last_id`=GREATEST(`last_id`,{threads})")))?;
    Ok(())
}

/// Records deferred checks, one bit for each kind; returns the bits of the whole load.
pub(super) fn defer(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    checks: u8,
) -> Result<u8, hortator_mysql::Error> {
    if checks != 0 {
        connection.execute(&statements.change_load(load_id, &format!("`byte`=`byte`|{checks}")))?;
    }
    let all = number(connection, &statements.of_load(load_id, "`byte`"))?;
    Ok(u8::try_from(all).unwrap_or(u8::MAX))
}

/// All loads: number, input, format.
pub(super) fn loads(connection: &mut Connection, statements: &Statements) -> Result<Vec<(u64, Identity, u64)>, Error> {
    let rows = connection.fetch(&statements.loads()).map_err(|error| of_other_columns(statements, error.into()))?;
    let load = |row: &Row| {
        // An input that a later version describes in other words is at least one of its number.
        let input = serde_json::from_str(&text(row, 1)).unwrap_or_default();
        (text(row, 0).parse().unwrap_or(0), input, text(row, 2).parse().unwrap_or(u64::MAX))
    };
    Ok(rows.iter().map(load).collect())
}

/// The same; none where there are no tables of ours.
fn recorded_loads(connection: &mut Connection, statements: &Statements) -> Result<Vec<(u64, Identity, u64)>, Error> {
    match loads(connection, statements) {
        Err(Error::Server(hortator_mysql::Error::Server(_))) => Ok(Vec::new()),
        found => found,
    }
}

/// The IDs of all loads.
pub(super) fn ids(connection: &mut Connection, statements: &Statements) -> Result<Vec<u64>, Error> {
    Ok(recorded_loads(connection, statements)?.into_iter().map(|(id, _, _)| id).collect())
}

pub(super) fn rows_by_table(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<Vec<(String, u64)>, hortator_mysql::Error> {
    let query = format!(
        "SELECT `name`, SUM(`rows`) FROM {}.`chunks` WHERE `load_id` = {load_id} AND `first` > 0 AND `state` >= {} AND `name` <> '' \
         GROUP BY `name` ORDER BY `name`",
        statements.quoted(),
        State::Applied as u8,
    );
    let rows = connection.fetch(query.as_bytes())?;
    Ok(rows.iter().map(|row| (text(row, 0), text(row, 1).parse().unwrap_or(0))).collect())
}

/// The number of applied checkpoints.
pub(super) fn count_applied(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<u64, hortator_mysql::Error> {
    let (chunks, done) = (statements.quoted(), State::Applied as u8);
    let query = format!(
        "SELECT COUNT(*) FROM {chunks}.`chunks` WHERE `load_id` = {load_id} AND `first` > 0 AND `state` >= {done}"
    );
    number(connection, &query)
}

/// Discards the checkpoints of a load that has ended, and the schema with the last load; returns whether checkpoints are
/// left. `are_keys_missing`: the load has deferred keys and not built them all.
pub(super) fn end(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    is_complete: bool,
    are_keys_missing: bool,
) -> Result<bool, hortator_mysql::Error> {
    if are_keys_missing || (!is_complete && number(connection, &statements.records(load_id))? > 0) {
        return Ok(true);
    }
    with_schema_lock(connection, |connection| Ok(drop_or_remove(connection, statements, load_id)?))
        .map(|()| false)
        .map_err(Error::into_server)
}

/// Drops the schema with the last load, if it has no other tables.
fn drop_or_remove(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<(), hortator_mysql::Error> {
    let other_tables = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME NOT IN ('chunks', '{}')",
        hex(statements.schema()),
        deferred_keys::TABLE,
    );
    let questions = [statements.anchor(load_id), statements.other_loads(load_id), other_tables.into_bytes()];
    let answers = connection.fetch_each(&questions)?;
    let is_none = |rows: Option<&Vec<Row>>| rows.and_then(|rows| rows.first()).is_some_and(|row| text(row, 0) == "0");
    let anchor = answers.first().and_then(|rows| read_anchor(load_id, rows).ok().flatten());
    let is_last = is_none(answers.get(1)) && is_none(answers.get(2));
    anchor.iter().for_each(local_journal::mark_on_server);
    let drop_schema = format!("DROP DATABASE {}", statements.quoted());
    match is_last.then(|| connection.execute(drop_schema.as_bytes())) {
        None | Some(Err(hortator_mysql::Error::Server(_))) => remove_rows(connection, statements, load_id)?,
        Some(dropped) => drop(dropped?),
    }
    anchor.iter().for_each(local_journal::remove);
    Ok(())
}

fn remove(connection: &mut Connection, statements: &Statements, load_id: u64) -> Result<(), hortator_mysql::Error> {
    let anchor = anchor(connection, statements, load_id).ok().flatten();
    anchor.iter().for_each(local_journal::mark_on_server);
    remove_rows(connection, statements, load_id)?;
    anchor.iter().for_each(local_journal::remove);
    Ok(())
}

fn remove_rows(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<(), hortator_mysql::Error> {
    deferred_keys::remove(connection, statements, load_id)?;
    let some = format!(
        "DELETE FROM {}.`chunks` WHERE `load_id` = {load_id} AND `first` > 0 LIMIT {REMOVED_AT_ONCE}",
        statements.quoted(),
    );
    while connection.execute(some.as_bytes())?.affected_rows > 0 {}
    connection.execute(&statements.retract(load_id, 0)).map(drop)
}

/// What became of loads that were to be given up.
#[derive(Debug, Default)]
pub struct Discarded {
    /// They are gone.
    pub loads: Vec<u64>,
    /// Indexes that they have left out and that nobody can build, in words: the tables are others by now.
    pub never_built: Vec<String>,
    /// Those that stay, because of indexes that cannot be built now.
    pub refused: Vec<Error>,
}

/// Discards the checkpoints of one load, or of all loads that do not run. `journal_folder`: where there
/// may be loads that are on record nowhere else.
///
/// # Errors
/// [`Error::Running`] when the one named runs, [`Error::Nothing`] when it is not there, [`Error::Server`].
pub fn discard(
    options: &ConnectOptions,
    schema: &str,
    load_id: Option<u64>,
    journal_folder: Option<&Path>,
) -> Result<Discarded, Error> {
    let options = ConnectOptions { database: None, charset: "utf8mb4".to_owned(), ..options.clone() };
    let statements = Statements::new(schema);
    let mut connection = connect(&options)?;
    let all = if is_there(&mut connection, &statements)? { loads(&mut connection, &statements)? } else { Vec::new() };
    let mut records = local_record::unregistered(&mut connection, &statements, journal_folder)?;
    let is_meant = |id: u64| load_id.is_none_or(|wanted| wanted == id);
    records.retain(|file| is_meant(file.load_id()));
    if let Some(id) = load_id.filter(|_| records.is_empty()) {
        find_id(&mut connection, &statements, id, None)?;
    }
    let mut discarded = Discarded::default();
    for id in all.into_iter().map(|(id, _, _)| id).filter(|id| is_meant(*id)) {
        match (holder(&mut connection, id)?, load_id) {
            (Some(connection_id), Some(load_id)) => return Err(Error::Running { load_id, connection_id }),
            (Some(_), None) => {}
            (None, _) => match deferred_keys::restore(&mut connection, &statements, id) {
                Ok(never_built) => {
                    with_schema_lock(&mut connection, |connection| Ok(drop_or_remove(connection, &statements, id)?))?;
                    discarded.loads.push(id);
                    discarded.never_built.extend(never_built);
                }
                // The others are none of its business.
                Err(error @ Error::MissingKeys { .. }) => discarded.refused.push(error),
                Err(error) => return Err(error),
            },
        }
    }
    for file in records {
        let id = file.load_id();
        match (holder(&mut connection, id)?, load_id) {
            (None, _) if !file.is_running() => {
                file.remove();
                discarded.loads.push(id);
            }
            (_, None) => {}
            (holder, Some(load_id)) => {
                return Err(Error::Running { load_id, connection_id: holder.unwrap_or(0) });
            }
        }
    }
    Ok(discarded)
}

pub(super) fn is_there(connection: &mut Connection, statements: &Statements) -> Result<bool, hortator_mysql::Error> {
    let query = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = 'chunks'",
        hex(statements.schema()),
    );
    Ok(number(connection, &query)? > 0)
}

fn with_schema_lock<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    // Best effort: a server without user locks still stores checkpoints.
    let _ = connection.fetch(format!("SELECT GET_LOCK('{SCHEMA_LOCK}', {SCHEMA_LOCK_TIMEOUT_S})").as_bytes())?;
    let result = work(connection);
    connection.execute(format!("DO RELEASE_LOCK('{SCHEMA_LOCK}')").as_bytes())?;
    result
}

/// Draws an ID for a new load and takes the lock of its main session. Loads that begin in the same second may draw the same one.
pub(super) fn claim_new_id(connection: &mut Connection, mut draw: impl FnMut() -> u64) -> Result<u64, Error> {
    let mut draws = 1;
    loop {
        let load_id = draw();
        match claim(connection, load_id, 0, 0) {
            Err(Error::Running { .. }) if draws < DRAWS_LIMIT => draws += 1,
            claimed => return claimed.map(|()| load_id),
        }
    }
}

/// An ID from the clock and the process, short enough to type.
pub(super) fn new_id() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mixed = spread(now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 40));
    now.as_secs() % 100_000_000 * 10_000 + mixed % 10_000
}

/// Spreads a number's bits (the finalizer of SplitMix64).
fn spread(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first value of a query's first row; 0 for none.
pub(super) fn number(
    connection: &mut Connection,
    query: &(impl AsRef<[u8]> + ?Sized),
) -> Result<u64, hortator_mysql::Error> {
    let rows = connection.fetch(query.as_ref())?;
    Ok(rows.first().and_then(|row| text(row, 0).parse().ok()).unwrap_or(0))
}

pub(super) fn text(row: &Row, column: usize) -> String {
    row.get(column)
        .and_then(Option::as_deref)
        .map_or_else(String::new, |value| String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_run_have_different_ids() {
        let server = hortator_sandbox::Builder::standalone().start_temporary().unwrap();
        let options = server.node(0).connect_options();
        let mut draws = [7, 7, 8].into_iter();
        let (mut first, mut second) = (connect(&options).unwrap(), connect(&options).unwrap());
        assert_eq!(claim_new_id(&mut first, || draws.next().unwrap()).unwrap(), 7);
        assert_eq!(claim_new_id(&mut second, || draws.next().unwrap()).unwrap(), 8);
        // Not for ever.
        let mut third = connect(&options).unwrap();
        assert!(matches!(claim_new_id(&mut third, || 7), Err(Error::Running { load_id: 7, .. })));
    }
}
