//! Large transactions: their parts are applied while they arrive, and committed with their end, which may not come.

use super::{AUTOCOMMIT_OFF, Applier};
use crate::apply::definition::Begun;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::transaction::{LogPosition, Part, text_of};

/// How the next large transaction is applied: an earlier session may have given it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeTransaction {
    /// As one that has not come before.
    #[default]
    New,
    /// Event by event: it has rows that do not fit.
    DoesNotFit,
    /// On record before it begins: what comes behind its first part cannot be rolled back.
    CannotRollBack,
}

impl Applier {
    /// Applies the next large transaction so.
    #[must_use]
    pub fn with_next_large(mut self, next: LargeTransaction) -> Applier {
        self.next_large = next;
        self
    }

    /// Applies the first part of a large transaction, or a further one. The transaction that follows has the rest.
    ///
    /// # Errors
    /// See [`Applier::apply`].
    pub fn apply_part(&mut self, mut part: Part) -> Result<(), Error> {
        if let Some(begun) = &self.begun {
            return Err(self.in_doubt(begun));
        }
        self.flush()?;
        let place = self.committed.as_ref().map_or_else(|| "the start".to_owned(), ToString::to_string);
        let place = format!("the large transaction behind {place}");
        self.prepare(&mut part.events, &place)?;
        let rows_can = self.target_can_roll_back(&part.events).map_err(|error| error.at(|| place.clone()))?;
        let can_roll_back = rows_can && part.can_roll_back && self.can_roll_back_statements(&part.events, &place)?;
        self.check_open(can_roll_back, &place)?;
        if !self.is_within {
            self.begin_large(&part, can_roll_back, &place)?;
        }
        self.temporary.open.advance(&part.events);
        let done = self.run(&part.events, &place);
        if done.is_err() && self.resolver.is_on { self.end_resolved(done) } else { done }
    }

    fn begin_large(&mut self, part: &Part, can_roll_back: bool, place: &str) -> Result<(), Error> {
        let next = std::mem::take(&mut self.next_large);
        let is_safe = can_roll_back && next != LargeTransaction::CannotRollBack;
        if !is_safe {
            self.large_text = text_of(&part.events);
            self.record_begun(Begun::of_rows(self.large_text.clone()), place)?;
        }
        self.log_as(part.server_id, place)?;
        self.resolver.is_on = is_safe && next == LargeTransaction::DoesNotFit;
        if is_safe && !self.resolver.is_on {
            self.execute(AUTOCOMMIT_OFF, place)?;
            self.is_autocommit_off = true;
        }
        self.execute(b"START TRANSACTION", place)?;
        (self.is_within, self.is_open_safe) = (true, is_safe);
        Ok(())
    }

    /// Events that cannot be rolled back do not go into a transaction that was begun as one that can: it would have to be on
    /// record before.
    ///
    /// # Errors
    /// [`Error::CannotRollBack`]: the session ends with that, and its end rolls back what is open.
    pub(super) fn check_open(&self, can_roll_back: bool, place: &str) -> Result<(), Error> {
        match self.is_within && self.is_open_safe && !can_roll_back {
            true => Err(Error::CannotRollBack(place.to_owned())),
            false => Ok(()),
        }
    }

    /// Whether the transaction that is open must come to its end: it could not be rolled back.
    #[must_use]
    pub fn must_finish(&self) -> bool {
        self.is_within && !self.is_open_safe
    }

    /// A person has looked at what is left of a transaction that does not end, and which this session has not applied.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn skip_unfinished(&mut self, behind: Option<&LogPosition>) -> Result<(), Error> {
        self.begun = None;
        behind.map_or(Ok(()), |behind| self.move_behind(behind))
    }

    /// Rolls back what is applied of a transaction that does not end: its source has crashed while it wrote it. What is before
    /// it is committed. `behind`: where the source's log goes on, if the rest of the transaction never comes.
    ///
    /// # Errors
    /// What the target refuses. Where its tables cannot roll back: [`Error::Leftovers`], or [`Error::InDoubt`] if the rest may come.
    pub fn abandon(&mut self, behind: Option<&LogPosition>) -> Result<(), Error> {
        self.flush()?;
        if !std::mem::take(&mut self.is_within) {
            return Ok(());
        }
        self.open_maps.clear();
        self.execute(b"ROLLBACK", "the end of an unfinished transaction")?;
        self.resolver.abandon();
        if self.is_open_safe {
            return self.restore_autocommit();
        }
        let place = self.committed.as_ref().map_or_else(|| "the start".to_owned(), ToString::to_string);
        let text = String::from_utf8_lossy(&self.large_text).into_owned();
        let Some(behind) = behind else { return Err(Error::InDoubt { place, text }) };
        // A source that goes by ids does not send its beginning again: whoever skips then would skip the next one.
        self.move_behind(behind)?;
        Err(Error::Leftovers { place, text })
    }

    /// Records that the log goes on there, with nothing begun.
    fn move_behind(&mut self, behind: &LogPosition) -> Result<(), Error> {
        let at = SourcePosition { position: behind.clone(), ..self.committed.clone().unwrap_or_default() };
        self.committed = Some(at);
        self.record_not_begun("the end of an unfinished transaction")
    }
}
