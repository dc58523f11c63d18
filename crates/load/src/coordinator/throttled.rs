//! Where the main session waits for the throttle: between transactions, with nothing of its own open.
//!
//! A transaction of the dump that it has begun is not held up, since its locks would be in the way of those for whom the load
//! is throttled.

use super::Coordinator;
use super::journal::Journal;
use super::main_session::IN_TRANSACTION;
use crate::apply::Stopped;

impl Coordinator<'_> {
    /// Reads no further while the load is paused.
    pub(super) fn wait_while_paused(&mut self) -> Result<(), Stopped> {
        self.wait_at_throttle(true)
    }

    /// Waits before a statement that the main session is to run.
    pub(super) fn wait_for_throttle(&mut self) -> Result<(), Stopped> {
        self.wait_at_throttle(false)
    }

    fn wait_at_throttle(&mut self, only_paused: bool) -> Result<(), Stopped> {
        // Under autocommit=0, the session is between transactions behind each COMMIT.
        let is_in_transaction = self.main.must_be_serial() == Some(IN_TRANSACTION);
        if is_in_transaction || self.main.is_closed_to_others() || !matches!(self.main.journal, Journal::Idle) {
            return Ok(());
        }
        let Self { throttle, main, pool, .. } = self;
        let mut is_over = || {
            main.keep_alive();
            pool.is_ending()
        };
        let is_over = match only_paused {
            true => throttle.wait_while_paused(&mut is_over),
            false => throttle.wait(&mut is_over),
        };
        if is_over { Err(Stopped) } else { Ok(()) }
    }
}
