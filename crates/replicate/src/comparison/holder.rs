//! The agent's side of a freeze, as seen from outside: asks it to hold sources, and lets them go.

use std::path::Path;

use crate::agent::{HoldState, SourceStatus};
use crate::binlog::GtidState;
use crate::control::{Answer, Request, ask};

/// What an agent says of a hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// It does what it can.
    State(HoldState),
    /// Nothing runs the configuration.
    NoAgent,
    /// It does not hold the source.
    Refused(String),
}

/// Sources that an agent is asked to hold. They go on when this goes.
pub(super) struct Holder<'s> {
    socket: &'s Path,
    by: u64,
    asked: Vec<String>,
}

impl<'s> Holder<'s> {
    pub(super) fn new(socket: &'s Path) -> Holder<'s> {
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
        // Two that compare at once have two processes or two times.
        let by =
            (u64::from(std::process::id()) << 32) ^ u64::try_from(nanos & u128::from(u64::MAX)).unwrap_or_default();
        Holder { socket, by, asked: Vec::new() }
    }

    /// Asks for a source to be held, or to be held longer.
    pub(super) fn hold(&mut self, source: &str, until: Option<&GtidState>) -> Held {
        let until = until.map(ToString::to_string);
        let request = Request::Hold { source: source.to_owned(), by: self.by, until };
        match ask(self.socket, &request) {
            Ok(Answer::Hold { state }) => {
                if !self.asked.iter().any(|asked| asked == source) {
                    self.asked.push(source.to_owned());
                }
                Held::State(state)
            }
            Ok(Answer::Refused { reason }) => Held::Refused(reason),
            Ok(_) | Err(_) => Held::NoAgent,
        }
    }

    /// How the agent says that a source stands.
    pub(super) fn status(&self, source: &str) -> Option<SourceStatus> {
        match ask(self.socket, &Request::Status) {
            Ok(Answer::Status { sources }) => sources.into_iter().find(|status| status.name == source),
            _ => None,
        }
    }

    /// Lets all sources go.
    pub(super) fn release(&mut self) {
        for source in std::mem::take(&mut self.asked) {
            // An agent that is gone holds nothing; one that does not answer lets it go by itself.
            let _ = ask(self.socket, &Request::Release { source, by: self.by });
        }
    }
}

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
