//! A session that is held for a comparison, between two transactions.

use std::time::Duration;

use super::{Error, Session};
use crate::agent::hold::{HoldState, Reached, reached};
use crate::agent::source_task::Wish;
use crate::agent::tracker::Phase;
use crate::apply::Applier;
use crate::source::Arrival;

/// How often a session that is held looks at what else is wished.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

impl Session<'_> {
    /// Waits while a comparison wants the source to stand where it is. Everything that was taken is committed then.
    pub(super) fn hold(&mut self, applier: &mut Applier) -> Result<(), Error> {
        let task = self.task;
        let mut is_told = false;
        while let Some(until) = task.hold.wanted() {
            if self.taken.is_none() {
                self.flush(applier)?;
                self.taken = applier.position().map(|at| at.gtid.clone());
            }
            let Some(taken) = &self.taken else { return Ok(()) };
            let state = match reached(taken, until.as_ref()) {
                Reached::NotYet => return Ok(()),
                Reached::Exactly => HoldState::Held,
                Reached::Beyond => HoldState::Passed,
            };
            let text = taken.to_string();
            self.flush(applier)?;
            applier.record_between()?;
            if until.is_some() && !std::mem::replace(&mut is_told, true) {
                task.tell(&format!("is held at {text} for a comparison"));
            }
            if task.wished(Phase::Source) != Wish::Run {
                return Ok(());
            }
            task.hold.wait(until.as_ref(), state, LOOK_INTERVAL);
        }
        self.taken = None;
        if is_told {
            task.tell("goes on");
        }
        Ok(())
    }

    /// Takes note of what is taken from the log.
    pub(super) fn on_arrival(&mut self, arrival: &Arrival) {
        if let (Some(taken), Arrival::Transaction(transaction)) = (&mut self.taken, arrival) {
            transaction.advance(taken);
        }
    }
}
