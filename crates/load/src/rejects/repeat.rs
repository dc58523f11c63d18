//! Which failed statements can be loaded again, and which part of them.

use crate::analysis::{JournalMode, StatementInfo, StatementKind, Trait};
use crate::lexer::{Dialect, Kind, tokens};
use crate::rows::{InsertVerb, insert_head};

/// How a failed statement stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// To be run.
    AsWritten,
    /// The same, and what its reader must know.
    WithNote(&'static str),
    /// As a comment, for this reason.
    Never(&'static str),
}

/// Functions that give what an earlier statement of the session has left.
const OF_SESSION: [&[u8]; 5] = [b"LAST_INSERT_ID", b"LASTVAL", b"FOUND_ROWS", b"ROW_COUNT", b"CONNECTION_ID"];

/// Variables that do.
const VARIABLES_OF_SESSION: [&[u8]; 9] = [
    b"last_insert_id",
    b"identity",
    b"insert_id",
    b"timestamp",
    b"error_count",
    b"warning_count",
    b"pseudo_thread_id",
    b"rand_seed1",
    b"rand_seed2",
];

/// Functions and words for the time at which a statement runs, and whether they are that only where they are called.
const CLOCK: [(&[u8], bool); 13] = [
    (b"NOW", true),
    (b"SYSDATE", true),
    (b"CURDATE", true),
    (b"CURTIME", true),
    (b"UNIX_TIMESTAMP", true),
    (b"CURRENT_DATE", false),
    (b"CURRENT_TIME", false),
    (b"CURRENT_TIMESTAMP", false),
    (b"LOCALTIME", false),
    (b"LOCALTIMESTAMP", false),
    (b"UTC_DATE", false),
    (b"UTC_TIME", false),
    (b"UTC_TIMESTAMP", false),
];

/// What concerns a session or a transaction that are over by then.
const OF_ITS_SESSION: [Trait; 16] = [
    Trait::AppliesEvents,
    Trait::PreparesSession,
    Trait::ExecutesPrepared,
    Trait::UsesHandler,
    Trait::Locks,
    Trait::MayLockServer,
    Trait::Unlocks,
    Trait::BeginsTransaction,
    Trait::CommitsTransaction,
    Trait::RollsBack,
    Trait::EndsSession,
    Trait::OfSavepoint,
    Trait::BeginsXa,
    Trait::EndsXa,
    Trait::CreatesTemporary,
    Trait::DropsTemporary,
];

/// Of a statement whose rows do not go with it: those of the table, or those that a trigger of it writes, are of an engine
/// without transactions.
pub(crate) const SOME_STAYED: &str = "rows of the statement before the one that failed may be in the table, or in one that its \
                                      triggers write: not all of them are transactional";

const READS_CLOCK: &str = "the statement reads the clock: it takes the time at which this file is loaded";

const CHANGES_NOTHING: &str = "the statement changes no rows and no definition";

/// How a statement that failed in the main session stands in the file. `has_own_clock`: the dump has set variables that only
/// its session has, the time among them.
pub(crate) fn repeat_of(text: &[u8], info: &StatementInfo, dialect: &Dialect, has_own_clock: bool) -> Repeat {
    let is_of_session = info.journal == JournalMode::Control || OF_ITS_SESSION.iter().any(|&one| info.is(one));
    if is_of_session {
        return Repeat::Never("the statement means something only in its own session or transaction");
    }
    match &info.kind {
        StatementKind::Set
        | StatementKind::Use(_)
        | StatementKind::Constant
        | StatementKind::Skip
        | StatementKind::Empty => return Repeat::Never(CHANGES_NOTHING),
        // What a body reads is of the sessions that run it.
        StatementKind::TableDdl | StatementKind::OtherDdl => return Repeat::AsWritten,
        StatementKind::Rows(rows) if !rows.values.has_expression => return Repeat::AsWritten,
        StatementKind::Rows(_) | StatementKind::Write { .. } | StatementKind::Exclusive { .. } => {}
    }
    if info.journal == JournalMode::Session {
        return Repeat::Never(CHANGES_NOTHING);
    }
    match (session_reading(text, dialect), has_own_clock) {
        // Of a text from a variable, nothing is known.
        (Reading::Session, _) => Repeat::Never("the statement reads what earlier statements have left in its session"),
        (Reading::Clock, true) => Repeat::Never("the statement reads a time that the dump has set for its session"),
        (Reading::Clock, false) => Repeat::WithNote(READS_CLOCK),
        (Reading::Nothing, _) if info.is(Trait::RunsRoutine) => {
            Repeat::WithNote("what the routine did before the error may have stayed")
        }
        (Reading::Nothing, _) => Repeat::AsWritten,
    }
}

/// How an INSERT that failed in a worker stands in the file. Its tuples, from `offset` on, read nothing but the clock.
pub(crate) fn repeat_of_rows(text: &[u8], offset: usize, dialect: &Dialect) -> Repeat {
    match session_reading(&text[offset..], dialect) {
        Reading::Clock => Repeat::WithNote(READS_CLOCK),
        Reading::Nothing | Reading::Session => Repeat::AsWritten,
    }
}

/// What of its session a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Nothing,
    Clock,
    Session,
}

fn session_reading(text: &[u8], dialect: &Dialect) -> Reading {
    let mut reading = Reading::Nothing;
    let mut rest = tokens(text, dialect).peekable();
    while let Some(token) = rest.next() {
        let is_called = rest.peek().is_some_and(|next| next.is_symbol(b"("));
        let is_of_session = match token.kind {
            Kind::UserVariable(_) => true,
            Kind::SystemVariable(name) => {
                let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
                VARIABLES_OF_SESSION.iter().any(|known| name.eq_ignore_ascii_case(known))
            }
            Kind::Word(_) => is_called && OF_SESSION.iter().any(|word| token.is_word(word)),
            _ => false,
        };
        if is_of_session {
            return Reading::Session;
        }
        if CLOCK.iter().any(|(word, needs_call)| token.is_word(word) && (is_called || !needs_call)) {
            reading = Reading::Clock;
        }
    }
    reading
}

/// What is left of an INSERT of which a table that cannot roll back has kept the first `kept` rows; `None` where that is not
/// certain: rows that exist may be no error to it.
pub(crate) fn remaining_rows(text: &[u8], offset: usize, dialect: &Dialect, kept: u64) -> Option<Vec<u8>> {
    let mut head = tokens(&text[..offset], dialect);
    let first = head.next()?;
    if !first.is_word(b"INSERT") || insert_head(false, head)?.verb != InsertVerb::Insert {
        return None;
    }
    let mut depth = 0_usize;
    let mut before = 0;
    for token in tokens(&text[offset..], dialect) {
        if token.is_symbol(b"(") {
            if depth == 0 && before == kept {
                let rest = &text[offset + token.offset..];
                return Some([&text[..offset], b" ", rest].concat());
            }
            before += u64::from(depth == 0);
            depth += 1;
        } else if token.is_symbol(b")") {
            depth = depth.checked_sub(1)?;
        }
    }
    None
}
