//! What cannot be rolled back: on record before it runs, and looked at if a run ends within it.

use hortator_load::checkpoint::Outcome;

use super::charset::SessionCharset;
use super::{Applier, describe};
use crate::apply::collations::Collations;
use crate::apply::definition::Begun;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::apply::statement_session::{is_without_effect, needs_collations, settings};
use crate::binlog::{Content, Event, QueryEvent};
use crate::transaction::{End, Transaction};

impl Applier {
    /// A definition that the target refuses leaves nothing: then it is not in doubt.
    pub(super) fn run_by_itself(&mut self, transaction: &Transaction, place: &str) -> Result<(), Error> {
        let done = self.run(&transaction.events, place);
        if let Err(Error::Target { error: hortator_mysql::Error::Server(_), .. } | Error::Event { .. }) = &done {
            self.record_not_begun(place)?;
        }
        done
    }

    /// Records that nothing has begun behind the last transaction.
    pub(super) fn record_not_begun(&mut self, place: &str) -> Result<(), Error> {
        let before = self.committed.clone().unwrap_or_default();
        self.use_charset_for_positions(place)?;
        self.execute(&self.table.write(&before), place)?;
        (self.unrecorded_since, self.on_record) = (None, Some(before));
        Ok(())
    }

    /// The error of a transaction that was on record. If the server says that its rollback leaves nothing, it has not begun.
    pub(super) fn take_off_record(&mut self, error: Error) -> Error {
        let is_of_server = matches!(error, Error::Target { error: hortator_mysql::Error::Server(_), .. });
        if is_of_server && self.was_open && !self.has_leftovers {
            // Where that fails, it stays in doubt, and the first error says more.
            let _ = self.record_not_begun("a transaction that is rolled back");
        }
        error
    }

    /// Records that what cannot be rolled back is about to run.
    pub(super) fn record_begun(&mut self, begun: Begun, place: &str) -> Result<(), Error> {
        let before = self.committed.clone().unwrap_or_default();
        let begun = self.table.write(&SourcePosition { begun: Some(begun), ..before.clone() });
        self.use_charset_for_positions(place)?;
        self.execute(&begun, place)?;
        (self.unrecorded_since, self.on_record) = (None, Some(before));
        Ok(())
    }

    /// How things stand before a transaction that cannot be rolled back.
    pub(super) fn look(&mut self, transaction: &Transaction, place: &str) -> Result<Begun, Error> {
        let Some(text) = self.settle(transaction, place)? else { return Ok(Begun::of_rows(transaction.text())) };
        Begun::look(&mut self.connection, &text).map_err(|error| self.failed(error, place))
    }

    /// Makes the session that of a transaction that is one statement, and gives its text.
    pub(super) fn settle(&mut self, transaction: &Transaction, place: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some((event, before)) = transaction.events.split_last() else { return Ok(None) };
        let Content::Query(query) = &event.content else { return Ok(None) };
        if transaction.end != End::ByItself {
            return Ok(None);
        }
        self.enter_session(event, query, before, place)?;
        Ok(Some(query.text.clone()))
    }

    /// Makes the session that of a statement of the source.
    pub(super) fn enter_session(
        &mut self,
        event: &Event,
        query: &QueryEvent,
        before: &[Event],
        place: &str,
    ) -> Result<(), Error> {
        for setting in self.settings(event, query, before, place)? {
            self.execute(&setting, place)?;
        }
        Ok(())
    }

    /// The statements that make the session that of a statement of the source.
    pub(super) fn settings(
        &mut self,
        event: &Event,
        query: &QueryEvent,
        before: &[Event],
        place: &str,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.charset = SessionCharset::OfSource;
        let version = self.connection.version().comment_number();
        let source_takes = self.format.as_ref().is_some_and(|(format, _)| format.takes_collations());
        let no_collations = Collations::default();
        let collations = if needs_collations(query, before) { self.collations(place)? } else { &no_collations };
        let settings = settings(event, query, before, collations, version, source_takes);
        settings.map_err(|found| Error::Event { place: place.to_owned(), found })
    }

    /// The target's collations.
    pub(super) fn collations(&mut self, place: &str) -> Result<&Collations, Error> {
        if self.collations.is_none() {
            // An error of what was sent ahead is one of that, and not of the question.
            self.take_answers()?;
            let asked = Collations::of_server(&mut self.connection);
            self.collations = Some(asked.map_err(|error| self.failed(error, place))?);
        }
        Ok(self.collations.get_or_insert_default())
    }

    /// Whether a statement that an earlier run had begun was applied.
    pub(super) fn was_applied(&mut self, transaction: &Transaction) -> Result<bool, Error> {
        let Some(begun) = self.begun.take() else { return Ok(false) };
        let place = describe(&self.position_behind(transaction), &begun.text);
        let is_it = self.settle(transaction, &place)?.as_ref() == Some(&begun.text);
        let outcome = match is_it {
            true => begun.outcome(&mut self.connection).map_err(|error| self.failed(error, &place))?,
            false => Outcome::InDoubt,
        };
        match outcome {
            Outcome::Applied => {
                if let Some(event) = self.changed_event(&begun.text, &place)? {
                    self.disable_event(&event, &place)?;
                }
                Ok(true)
            }
            Outcome::Reapply => Ok(false),
            Outcome::PartialSequence => {
                let dropped = begun.drop_sequence(&mut self.connection);
                dropped.map(|()| false).map_err(|error| self.failed(error, &place))
            }
            Outcome::InDoubt => Err(self.in_doubt(&begun)),
        }
    }

    pub(super) fn in_doubt(&self, begun: &Begun) -> Error {
        let place = self.committed.as_ref().map_or_else(|| "the start".to_owned(), ToString::to_string);
        Error::InDoubt { place, text: String::from_utf8_lossy(&begun.text).into_owned() }
    }

    /// Passes a transaction over that the target has refused with an error that is ignored.
    pub(super) fn pass_or_keep(&mut self, transaction: &Transaction, error: Error) -> Result<(), Error> {
        let is_ignored = match &error {
            Error::Target { error: hortator_mysql::Error::Server(error), .. } => {
                self.ignore_errors.contains(&error.code)
            }
            _ => false,
        };
        if self.has_leftovers || !is_ignored {
            let error = self.with_columns_at_fault(transaction, error);
            return Err(self.keep_in_doubt(error, transaction.text()));
        }
        self.passed_over.push(error.to_string());
        // It may be one of a group that workers have given back: others of theirs are behind it.
        self.leave_out(transaction)
    }

    /// Where rows are left of a transaction that the target has refused, the next run must not apply it again.
    pub(super) fn keep_in_doubt(&mut self, error: Error, text: Vec<u8>) -> Error {
        if std::mem::take(&mut self.has_leftovers) {
            // Where that fails too, the first error says more.
            let _ = self.record_begun(Begun::of_rows(text), "rows that cannot be rolled back");
        }
        error
    }
}

/// Whether it only announces an ALTER TABLE, or says that it has come to nothing.
pub(super) fn is_announcement(transaction: &Transaction) -> bool {
    matches!(&transaction.events[..], [Event { content: Content::Query(query), .. }] if is_without_effect(query))
}
