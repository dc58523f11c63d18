//! What became of a statement that had begun when a load ended: read from what it changes.
//!
//! Servers of today change a definition wholly or not at all, whatever happens (MariaDB from 10.6, MySQL from 8.0). So a
//! definition that is no longer what it was before is done, and one that is what it was can be run again. A statement
//! that names several may have been carried through for some of them: then only the ends of the way are certain.
//!
//! CREATE SEQUENCE is the exception: MariaDB makes the table, and then writes its only row in a transaction of its own. A
//! server killed in between keeps a sequence that cannot be read (ERROR 1032), and MariaDB 10.11 crashes some time after
//! somebody has tried. So nobody looks at a sequence that was not there before: it is dropped, and made again.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, RowSink, quote_string};

use super::{RecoveryHint, digest};
use crate::analysis::{DdlTarget, JournalMode, Postcondition, StatementInfo, Trait, identifiers};
use crate::lexer::{Dialect, tokens};

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the database.
    Applied,
    /// Nothing of it is, or running it once more makes no difference.
    Reapply,
    /// It makes a sequence that was not there, and may have left it without its row: [`drop_sequence`], and run it again.
    PartialSequence,
    /// The server cannot tell.
    InDoubt,
}

/// What servers say of something that is not there: a table or view, a schema (twice), a routine, a trigger, an event, a
/// sequence, an account (three times).
const NOT_THERE: &[u16] = &[1146, 1049, 1008, 1305, 1360, 1539, 4091, 1133, 1141, 3162];

/// What a question for a sequence begins with.
const SHOW_SEQUENCE: &[u8] = b"SHOW CREATE SEQUENCE ";

/// Changes neither FOUND_ROWS() nor anything else that a dump may ask for.
const CLEAR_WARNINGS: &[u8] = b"SHOW CREATE TABLE information_schema.ENGINES";

/// Names of one statement that are looked up among the tables.
const NAMES_LIMIT: usize = 10_000;

/// How a statement's subjects stand, for a [`RecoveryHint`] before it runs: on the session in which it runs.
///
/// # Errors
/// A lost connection.
pub fn fingerprint(connection: &mut Connection, info: &StatementInfo) -> Result<RecoveryHint, Error> {
    fingerprint_noting_warnings(connection, info, &mut false)
}

/// The same. `has_warnings`: becomes true where the session may have warnings of it.
fn fingerprint_noting_warnings(
    connection: &mut Connection,
    info: &StatementInfo,
    has_warnings: &mut bool,
) -> Result<RecoveryHint, Error> {
    if info.is_idempotent() {
        return Ok(RecoveryHint::None);
    }
    let Some(DdlTarget { questions, .. }) = &info.ddl_target else { return Ok(RecoveryHint::None) };
    let found = look(connection, questions, has_warnings)?;
    Ok(found.map_or(RecoveryHint::None, |found| recovery_hint(&found)))
}

/// The same in the dump's session. What is not there is an error of ours, which would stay among the warnings of the session,
/// and a view may bring warnings: a definition does not clear them, a statement that reads a table does.
///
/// # Errors
/// A lost connection.
pub fn fingerprint_unseen(connection: &mut Connection, info: &StatementInfo) -> Result<RecoveryHint, Error> {
    let mut has_warnings = false;
    let found = fingerprint_noting_warnings(connection, info, &mut has_warnings)?;
    if has_warnings {
        match connection.fetch(CLEAR_WARNINGS) {
            // Where the server does not show it, a warning too many is all that is left.
            Ok(_) | Err(Error::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Hashes of the definitions that the questions ask for, `None` for what is not there; no answer where the server does
/// not show one of them, as for want of rights.
///
/// `has_warnings`: whether the session has warnings then, which may be those of the last question.
fn look(
    connection: &mut Connection,
    questions: &[Vec<u8>],
    has_warnings: &mut bool,
) -> Result<Option<Vec<Option<u128>>>, Error> {
    let mut found = Vec::with_capacity(questions.len());
    for question in questions {
        let mut shown = Shown::default();
        match connection.query(question, &mut shown) {
            Ok(done) => {
                *has_warnings = done.warnings > 0;
                found.push(Some(digest([shown.0.as_slice()])));
            }
            Err(Error::Server(error)) => {
                *has_warnings = true;
                match NOT_THERE.contains(&error.code) {
                    true => found.push(None),
                    false => return Ok(None),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(found))
}

/// The values of an answer, one behind the other.
#[derive(Default)]
struct Shown(Vec<u8>);

impl RowSink for Shown {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        values.iter().flatten().for_each(|value| add_without_counter(&mut self.0, value));
        ControlFlow::Continue(())
    }
}

fn recovery_hint(found: &[Option<u128>]) -> RecoveryHint {
    match found {
        [one] => RecoveryHint::Definition(*one),
        several => {
            let texts: Vec<Vec<u8>> =
                several.iter().map(|hash| hash.map_or(Vec::new(), |hash| hash.to_le_bytes().to_vec())).collect();
            RecoveryHint::Definition(Some(digest(texts.iter().map(Vec::as_slice))))
        }
    }
}

/// What became of a statement that had begun, given how things stood before and the session that it ran in.
///
/// # Errors
/// A lost connection.
pub fn outcome(
    connection: &mut Connection,
    text: &[u8],
    info: &StatementInfo,
    dialect: &Dialect,
    before: &RecoveryHint,
) -> Result<Outcome, Error> {
    if *before == RecoveryHint::NotInTransaction {
        return Ok(Outcome::InDoubt);
    }
    // A definition that brings rows with it may be there without them.
    if info.is(Trait::SeveralStatements) || info.is(Trait::BringsRows) {
        return Ok(Outcome::InDoubt);
    }
    if info.is_idempotent() {
        return Ok(Outcome::Reapply);
    }
    if info.journal == JournalMode::Rows {
        let is_certain = !names_other_engines(connection, text, dialect)?;
        return Ok(if is_certain { Outcome::Reapply } else { Outcome::InDoubt });
    }
    let (RecoveryHint::Definition(_) | RecoveryHint::Exists, Some(DdlTarget { questions, postcondition })) =
        (before, &info.ddl_target)
    else {
        return Ok(Outcome::InDoubt);
    };
    let is_create = || tokens(text, dialect).next().is_some_and(|token| token.is_word(b"CREATE"));
    if *before == RecoveryHint::Definition(None) && created_sequence(info).is_some() && is_create() {
        return Ok(Outcome::PartialSequence);
    }
    let Some(found) = look(connection, questions, &mut false)? else { return Ok(Outcome::InDoubt) };
    let is_as_before = match before {
        RecoveryHint::Exists => found.iter().all(Option::is_some),
        before => recovery_hint(&found) == *before,
    };
    if is_as_before {
        return Ok(Outcome::Reapply);
    }
    let is_done = match postcondition {
        Postcondition::Changed => true,
        Postcondition::Dropped => found.iter().all(Option::is_none),
        Postcondition::Renamed => matches!(found[..], [None, Some(_)]),
    };
    Ok(if is_done { Outcome::Applied } else { Outcome::InDoubt })
}

/// Drops the sequence that a statement makes, if it is there: for [`Outcome::PartialSequence`].
///
/// # Errors
/// What the server or the connection says.
pub fn drop_sequence(connection: &mut Connection, info: &StatementInfo) -> Result<(), Error> {
    let Some(name) = created_sequence(info) else { return Ok(()) };
    connection.execute(&[b"DROP SEQUENCE IF EXISTS ", name].concat()).map(drop)
}

/// The name of the sequence that a statement makes, or changes, as SQL.
fn created_sequence(info: &StatementInfo) -> Option<&[u8]> {
    let target = info.ddl_target.as_ref().filter(|target| target.postcondition == Postcondition::Changed)?;
    let [question] = &target.questions[..] else { return None };
    question.strip_prefix(SHOW_SEQUENCE)
}

/// Whether a statement names, or may name, a table that cannot roll back: what stands behind a view is not looked at.
///
/// # Errors
/// What the server or the connection says.
pub fn names_other_engines(connection: &mut Connection, text: &[u8], dialect: &Dialect) -> Result<bool, Error> {
    // Words of the language are among them: a table of such a name is one too many, and never one too few.
    let mut names = BTreeSet::new();
    for name in identifiers(text, dialect) {
        if std::str::from_utf8(&name).is_err() || names.len() >= NAMES_LIMIT {
            return Ok(true);
        }
        // Servers fold case by their platform; here all do.
        names.insert([b"LOWER(".as_slice(), &quote_string(&name), b")"].concat());
    }
    if names.is_empty() {
        return Ok(false);
    }
    let names: Vec<Vec<u8>> = names.into_iter().collect();
    let names = names.join(&b","[..]);
    // Tables of the server's own have everybody's names, such as `user`: they count where their schema is meant.
    let query = [
        b"SELECT COUNT(*) FROM information_schema.TABLES WHERE LOWER(TABLE_NAME) IN (".as_slice(),
        &names,
        b") AND NOT (TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND COALESCE(ENGINE, '') IN ('InnoDB', 'ROCKSDB')) \
          AND (TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') \
          OR TABLE_SCHEMA = LOWER(DATABASE()) OR LOWER(TABLE_SCHEMA) IN (",
        &names,
        b"))",
    ]
    .concat();
    let rows = connection.fetch(&query)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()) != Some(b"0"))
}

/// Adds a definition without the counter in it, which moves with the rows.
fn add_without_counter(all: &mut Vec<u8>, definition: &[u8]) {
    const COUNTER: &[u8] = b" AUTO_INCREMENT=";
    let Some(at) = memchr::memmem::find(definition, COUNTER) else { return all.extend_from_slice(definition) };
    let digits = definition[at + COUNTER.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    all.extend_from_slice(&definition[..at]);
    all.extend_from_slice(&definition[at + COUNTER.len() + digits..]);
}
