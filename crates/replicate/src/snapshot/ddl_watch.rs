//! The source's log behind the snapshot, watched for definitions that change under the copy.
//!
//! Two rules. Until all definitions are read, none may change: they are those of the snapshot. After that, none may change that
//! names a table whose rows are not all read. What changes later is applied when the copy is done, as everything in the log.

use std::collections::HashMap;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Error;
use super::objects::Object;
use crate::source::{Arrival, Popped, Queue};
use crate::transaction::{End, LogPosition, Transaction, creates_table, text_of};

/// Statements that commit by themselves and change no definition.
const HARMLESS: [&str; 6] = ["ANALYZE", "FLUSH", "GRANT", "REVOKE", "SET", "CHECK"];

/// Bytes of a statement in a message.
const SHOWN_BYTES: usize = 100;
/// How often the one who follows the log looks whether it is still wanted.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(100);

/// What is known of the log.
#[derive(Debug, Default)]
pub(super) struct DdlWatch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Everything before it is seen.
    reached: LogPosition,
    /// Where all definitions were read.
    window_end: Option<LogPosition>,
    /// Tables, and where their rows were all read.
    tables: HashMap<Object, Option<LogPosition>>,
    failure: Failure,
}

/// Whether the watch has ended before its time. Two threads ask: one of them is told why, the other one only that.
#[derive(Debug, Default)]
enum Failure {
    #[default]
    None,
    /// Nobody knows yet.
    Found(Error),
    /// Somebody does.
    Told,
}

impl Failure {
    fn is_none(&self) -> bool {
        matches!(self, Failure::None)
    }

    /// Why: for the first one who asks.
    fn take(&mut self) -> Option<Error> {
        match mem::take(self) {
            Failure::Found(error) => {
                *self = Failure::Told;
                Some(error)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// As an error of whoever waits for the watch.
    fn check(&mut self) -> Result<(), Error> {
        match (self.take(), &*self) {
            (Some(error), _) => Err(error),
            (None, Failure::None) => Ok(()),
            (None, _) => Err(Error::Ended),
        }
    }
}

impl DdlWatch {
    /// Reads what comes until the queue is closed or something is found.
    pub(super) fn follow(&self, queue: &Queue) {
        let mut receiver = queue.receiver();
        while !queue.is_closed() && self.lock().failure.is_none() {
            let seen = match receiver.pop(FOLLOW_INTERVAL) {
                Popped::Arrival(Arrival::Transaction(transaction)) => self.see(&transaction),
                Popped::Arrival(Arrival::Idle(at)) => self.reach(&at),
                Popped::Arrival(Arrival::Failed(error)) => Err(error.into()),
                // What it creates is on the target before its place is known: as if it were here.
                Popped::Arrival(Arrival::Part(part)) => match creates_table(&part.events) {
                    true => {
                        let reached = self.lock().reached.clone();
                        self.check(&text_of(&part.events), &reached)
                    }
                    false => Ok(()),
                },
                // The last one is of files.
                Popped::Arrival(Arrival::Format(_) | Arrival::Unfinished { .. } | Arrival::Complete(_))
                | Popped::Nothing => Ok(()),
            };
            if let Err(error) = seen {
                self.lock().failure = Failure::Found(error);
                self.changed.notify_all();
            }
        }
    }

    fn see(&self, transaction: &Transaction) -> Result<(), Error> {
        // CREATE TABLE … SELECT is a transaction with rows.
        if transaction.end == End::ByItself || creates_table(&transaction.events) {
            self.check(&transaction.text(), &transaction.position)?;
        }
        self.reach(&transaction.position)
    }

    fn reach(&self, at: &LogPosition) -> Result<(), Error> {
        let mut state = self.lock();
        if at.is_behind(&state.reached) {
            state.reached = at.clone();
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Whether a statement changes what is not read yet.
    fn check(&self, text: &[u8], at: &LogPosition) -> Result<(), Error> {
        let state = self.lock();
        let is_early = state.window_end.as_ref().is_none_or(|end| !at.is_behind(end));
        let is_unread = |(table, end): (&Object, &Option<LogPosition>)| {
            end.as_ref().is_none_or(|end| !at.is_behind(end)) && names(text, &table.name)
        };
        if !is_harmless(text) && (is_early || state.tables.iter().any(is_unread)) {
            let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)]).into_owned();
            return Err(Error::Changed(shown.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        Ok(())
    }

    /// All definitions are read, and the log was at `end` then: waits until it is seen so far. `goes_on` ends the waiting.
    pub(super) fn definitions_are_read<'t>(
        &self,
        end: LogPosition,
        tables: impl Iterator<Item = &'t Object>,
        goes_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.wait_for(&end, goes_on)?;
        let mut state = self.lock();
        state.tables = tables.map(|table| (table.clone(), None)).collect();
        // What has come meanwhile stands behind `end`, and may have been taken for early: then this fails needlessly.
        state.window_end = Some(end);
        state.failure.check()
    }

    /// All rows of a table are read, and the log was at `end` then.
    pub(super) fn rows_are_read(&self, table: &Object, end: LogPosition) {
        self.lock().tables.insert(table.clone(), Some(end));
    }

    /// Waits until the log is seen up to `end`. [`Error::Ended`]: it never will, and somebody else knows why.
    pub(super) fn wait_for(&self, end: &LogPosition, goes_on: &dyn Fn() -> Result<(), Error>) -> Result<(), Error> {
        let mut state = self.lock();
        while state.failure.is_none() && end.is_behind(&state.reached) {
            drop(state);
            goes_on()?;
            state = self.lock();
            if state.failure.is_none() && end.is_behind(&state.reached) {
                let waited = self.changed.wait_timeout(state, FOLLOW_INTERVAL);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.failure.check()
    }

    /// Why the copy cannot go on, unless somebody knows already.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_harmless(text: &[u8]) -> bool {
    let word = text.trim_ascii_start().split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    HARMLESS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a statement may name a table: too often rather than too rarely.
fn names(text: &[u8], table: &[u8]) -> bool {
    // Such a name has several spellings.
    if !table.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'`' && *byte != b'"') {
        return true;
    }
    let is_of_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut windows = text.windows(table.len().max(1)).enumerate();
    windows.any(|(start, window)| {
        window.eq_ignore_ascii_case(table)
            && !is_of_name(start.checked_sub(1).and_then(|before| text.get(before)))
            && !is_of_name(text.get(start + table.len()))
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::objects::Kind;
    use super::*;

    fn at(position: u64) -> LogPosition {
        LogPosition { file: b"bin.000001".to_vec(), position }
    }

    fn table(name: &str) -> Object {
        Object { kind: Kind::Table, schema: b"d".to_vec(), name: name.into() }
    }

    #[test]
    fn statements_that_name_a_table() {
        for (text, name, expected) in [
            ("RENAME TABLE t TO t2, u TO t", "t", true),
            ("ALTER TABLE `d`.`T` ADD c INT", "t", true),
            ("ALTER TABLE orders2 ADD c INT", "orders", false),
            ("ALTER TABLE my_orders ADD c INT", "orders", false),
            ("TRUNCATE orders", "orders", true),
            ("ALTER TABLE x EXCHANGE PARTITION p WITH TABLE orders", "orders", true),
            ("ALTER TABLE x", "größe", true),
            ("ALTER TABLE x", "a`b", true),
            ("", "t", false),
        ] {
            assert_eq!(names(text.as_bytes(), name.as_bytes()), expected, "{text}: {name}");
        }
    }

    #[test]
    fn what_changes_under_the_copy() {
        let watch = DdlWatch::default();
        assert!(watch.check(b"CREATE TABLE x (id INT)", &at(10)).is_err(), "before the definitions are read");
        assert!(watch.check(b"GRANT SELECT ON *.* TO a", &at(10)).is_ok());
        watch.reach(&at(100)).unwrap();
        let tables = [table("t"), table("u")];
        watch.definitions_are_read(at(100), tables.iter(), &|| Ok(())).unwrap();
        assert!(watch.check(b"ALTER TABLE x ADD c INT", &at(100)).is_err(), "as early");
        assert!(watch.check(b"ALTER TABLE x ADD c INT", &at(110)).is_ok());
        assert!(watch.check(b"ALTER TABLE t ADD c INT", &at(110)).is_err());
        watch.rows_are_read(&tables[0], at(200));
        assert!(watch.check(b"ALTER TABLE t ADD c INT", &at(200)).is_err());
        assert!(watch.check(b"ALTER TABLE t ADD c INT", &at(210)).is_ok());
        assert!(watch.check(b"DROP TABLE u", &at(210)).is_err());
    }

    #[test]
    fn waiting_ends() {
        let watch = DdlWatch::default();
        let ended = watch.wait_for(&at(5), &|| Err(Error::Ended));
        assert!(matches!(ended, Err(Error::Ended)));
        watch.reach(&at(5)).unwrap();
        assert!(watch.wait_for(&at(5), &|| Err(Error::Ended)).is_ok());
    }

    /// The copy has taken the failure, and its reader comes to the end of the rows only then.
    #[test]
    fn a_watch_that_has_failed_is_not_waited_for() {
        let watch = DdlWatch::default();
        watch.lock().failure = Failure::Found(Error::Changed("t".to_owned()));
        assert!(matches!(watch.take_failure(), Some(Error::Changed(_))));
        assert!(watch.take_failure().is_none());
        let looks = Cell::new(0);
        let goes_on = || {
            looks.set(looks.get() + 1);
            assert!(looks.get() < 3, "waits for what nobody reads");
            Ok(())
        };
        assert!(matches!(watch.wait_for(&at(5), &goes_on), Err(Error::Ended)));
        assert!(matches!(watch.definitions_are_read(at(5), [].iter(), &goes_on), Err(Error::Ended)));
    }
}
