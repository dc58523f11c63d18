//! A statement that commits by itself: how things stand before it, and what became of one that an earlier run had begun.
//!
//! Read by the loader's rules (`hortator_load::checkpoint`): a definition that is another than before is applied, one that is
//! the same can run again.

use hortator_load::analysis::{FunctionSet, SessionFacts, StatementInfo, analyze};
use hortator_load::checkpoint::{Outcome, RecoveryHint, drop_sequence, fingerprint, outcome};
use hortator_load::lexer::{Charset, Dialect};
use hortator_mysql::{Connection, Error};

use crate::event_definition::{self, event_name};

/// What is on record of a statement that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its text, or what stands for it.
    pub text: Vec<u8>,
    /// How things stood before it.
    pub before: RecoveryHint,
}

impl Begun {
    /// Looks at what a statement is about to change, in the session in which it will run.
    pub(super) fn look(connection: &mut Connection, text: &[u8]) -> Result<Begun, Error> {
        let (info, _) = read(connection, text)?;
        Ok(Begun { text: text.to_vec(), before: fingerprint(connection, &info)? })
    }

    /// Of rows that cannot be rolled back: nothing tells how many of them are there.
    pub(super) fn of_rows(text: Vec<u8>) -> Begun {
        Begun { text, before: RecoveryHint::NotInTransaction }
    }

    /// What became of it, asked in a session as it ran in.
    pub(super) fn outcome(&self, connection: &mut Connection) -> Result<Outcome, Error> {
        if self.before == RecoveryHint::NotInTransaction {
            return Ok(Outcome::InDoubt);
        }
        let (info, dialect) = read(connection, &self.text)?;
        outcome(connection, &self.text, &info, &dialect, &self.before)
    }

    /// Drops the sequence that it makes, if it is there.
    pub(super) fn drop_sequence(&self, connection: &mut Connection) -> Result<(), Error> {
        let (info, _) = read(connection, &self.text)?;
        drop_sequence(connection, &info)
    }
}

/// Reads a statement as the session does.
fn read(connection: &mut Connection, text: &[u8]) -> Result<(StatementInfo, Dialect), Error> {
    let dialect = dialect(connection)?;
    let functions = FunctionSet::all();
    Ok((analyze(text, &SessionFacts { dialect, functions: &functions, known_head: None }), dialect))
}

/// How the session reads statements.
pub(super) fn dialect(connection: &mut Connection) -> Result<Dialect, Error> {
    let row = connection.fetch(b"SELECT @@session.sql_mode, @@session.character_set_client")?.into_iter().next();
    let mut values = row.into_iter().flatten().map(Option::unwrap_or_default);
    let (sql_mode, charset) = (values.next().unwrap_or_default(), values.next().unwrap_or_default());
    let has_mode = |name: &[u8]| sql_mode.split(|byte| *byte == b',').any(|mode| mode == name);
    let version = connection.version();
    Ok(Dialect {
        server_version: version.comment_number(),
        mariadb: version.is_mariadb(),
        no_backslash_escapes: has_mode(b"NO_BACKSLASH_ESCAPES"),
        ansi_quotes: has_mode(b"ANSI_QUOTES"),
        brackets: version.is_mariadb() && has_mode(b"MSSQL"),
        charset: Charset::from_name(&charset),
    })
}

/// The event that a statement is about to create or change, by its name as the text has it, asked in the session in which the
/// statement runs. `Err` is the reason why the event cannot be told.
pub(super) fn changed_event(
    connection: &mut Connection,
    text: &[u8],
) -> Result<Result<Option<Vec<u8>>, String>, Error> {
    let is_candidate = text.windows(SHORT_EVENT.len()).any(|window| window.eq_ignore_ascii_case(SHORT_EVENT));
    if !is_candidate {
        return Ok(Ok(None));
    }
    let dialect = dialect(connection)?;
    Ok(event_name(text, &dialect).map(|name| name.map(<[u8]>::to_vec)))
}

/// The definer of an event, as `DEFINER=…` in UTF-8, asked in a session that may have another character set.
pub(super) fn event_definer(connection: &mut Connection, name: &[u8]) -> Result<Vec<u8>, Error> {
    let dialect = Dialect { charset: Charset::from_name(b"utf8mb4"), ..dialect(connection)? };
    // The server takes all of the text for one of the event's character set, and the definer in it is in UTF-8.
    connection.execute(b"SET SESSION character_set_results = NULL")?;
    let rows = connection.fetch(&[b"SHOW CREATE EVENT ".as_slice(), name].concat());
    connection.execute(b"SET SESSION character_set_results = utf8mb4")?;
    let create = rows?.into_iter().next().and_then(|row| row.into_iter().nth(CREATE_COLUMN).flatten());
    Ok(event_definition::definer(&create.unwrap_or_default(), &dialect).to_vec())
}

const SHORT_EVENT: &[u8] = b"EVENT";
/// Of SHOW CREATE EVENT.
const CREATE_COLUMN: usize = 3;
