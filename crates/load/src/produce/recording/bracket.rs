//! What commits by itself, or does anything: between a record that it has begun and one that it has ended.

use super::{Puts, Run, done_or_bound, entry_of};
use crate::apply::Stopped;
use crate::lexer::Location;
use crate::produce::main_session::MainSession;
use crate::record::{Entry, Note, State, fingerprint};

impl MainSession<'_> {
    /// Runs a statement between two records. `is_alone`: it changes rows, and no transaction tells whether it is done.
    pub(super) fn run_in_bracket(
        &mut self,
        text: &[u8],
        location: &Location,
        binds: bool,
        puts: &Puts,
        is_alone: bool,
    ) -> Result<u64, Stopped> {
        let Some(records) = self.records else { return self.run(text, location) };
        let dialect = self.dialect();
        let note = match is_alone || self.acts_on_next() {
            true => Ok(Note::Alone),
            false => fingerprint(&mut self.connection, text, &dialect),
        };
        let note = match note {
            Ok(note) => note,
            Err(error) => return self.record_failed(location, text, &error).map(|()| 0),
        };
        let begun = entry_of(text, location, State::Begun, &puts.table, note);
        self.apart(location, text, |records, own| records.write(own, &begun))?;
        let failures = self.failures();
        let result = self.run(text, location);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        if has_failed && !self.is_forced() {
            // A refused definition leaves nothing. Of anything else a part may be there: its record stays open and says so.
            if matches!(begun.note, Note::Definition(_)) && !self.is_gone() && !self.is_interrupted() {
                self.apart(location, text, |records, own| records.retract(own, begun.span.first))?;
            }
            return result;
        }
        if has_failed && self.is_gone() {
            return result;
        }
        if !has_failed && self.is_closed_to_others() {
            self.recording.stretch = Some(Run::new(text, location, ""));
            return result;
        }
        let note = if has_failed { Note::Failed(1) } else { Note::Nothing };
        let entry = Entry { state: done_or_bound(binds), rows, note, ..begun };
        if !has_failed && self.status().in_transaction() {
            // It was part of the dump's transaction after all, and goes with it.
            self.apart(location, text, |records, own| records.retract(own, entry.span.first))?;
            let run = Run::new(text, location, &puts.table);
            self.recording.pending.push(Run { state: entry.state, rows, ..run });
            return result;
        }
        match records.apart(|records, own| records.close(own, &entry)) {
            Ok(_) => result,
            Err(error) => self.record_failed(location, text, &error).and(result),
        }
    }

    /// Closes the bracket around a stretch in which nothing could be recorded, if it is over.
    pub(super) fn end_stretch(&mut self, location: &Location) -> Result<(), Stopped> {
        if self.is_closed_to_others() {
            return Ok(());
        }
        let Some(stretch) = self.recording.stretch.take() else { return Ok(()) };
        self.apart(location, b"", |records, own| records.close(own, &stretch.entry()))
    }
}
