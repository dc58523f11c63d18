//! Statements that were interrupted on the source: some of their rows may be there, in tables that cannot roll back, and nobody
//! knows which.

use super::Applier;
use crate::apply::error::Error;
use crate::apply::statement_session::is_without_effect;
use crate::binlog::{Content, Event};

/// Errors with which a source ends a statement at any of its rows. A replica does not run such a statement (seen with 10.11, which
/// writes 1053, 1317, 1927 and 1969); but for those of locks, where it runs all of it and has more rows than the source then.
const INTERRUPTIONS: [u16; 10] = [
    1053, // ER_SERVER_SHUTDOWN
    1158, // ER_NET_READ_ERROR
    1160, // ER_NET_ERROR_ON_WRITE
    1184, // ER_NEW_ABORTING_CONNECTION
    1205, // ER_LOCK_WAIT_TIMEOUT
    1213, // ER_LOCK_DEADLOCK
    1317, // ER_QUERY_INTERRUPTED
    1614, // ER_XA_RBDEADLOCK
    1927, // ER_CONNECTION_KILLED
    1969, // ER_STATEMENT_TIMEOUT
];

const NOTHING_HERE: &str = "nothing of its transaction was run here. Make the rows of its tables equal to the source's by hand, then \
                            `skip` it; or `skip` it, and copy the source again (`copy-again FILE SOURCE`)";
const SOME_HERE: &str = "of the statements before it in its transaction, those rows are here that cannot be rolled back. `skip` it, and \
                         copy the source again (`copy-again FILE SOURCE`)";

fn interrupted(code: u16) -> String {
    format!("the statement was interrupted on the source (error {code}): some of its changes may be there, and")
}

impl Applier {
    /// Looks whether the source has run these statements to their end, or to an error that the target runs into as well.
    ///
    /// # Errors
    /// One was interrupted.
    pub(super) fn check_interrupted(&self, events: &[Event], place: &str) -> Result<(), Error> {
        for event in events {
            let Content::Query(query) = &event.content else { continue };
            let code = query.error_code;
            if !INTERRUPTIONS.contains(&code) || self.table.is_written_by(&query.text) || is_without_effect(query) {
                continue;
            }
            let found = match self.must_finish() {
                false => format!("{} {NOTHING_HERE}", interrupted(code)),
                true => format!("{} {SOME_HERE}", interrupted(code)),
            };
            return Err(Error::Event { place: place.to_owned(), found });
        }
        Ok(())
    }
}
