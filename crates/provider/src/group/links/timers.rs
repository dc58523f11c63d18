//! What is done because time has passed.

use std::time::{Duration, Instant};

use super::dial::Standing;
use super::stream::{Stage, Stream};
use super::{ALIVE_EVERY, CONNECT_LIMIT, GREETING_LIMIT, Links, SILENCE_LIMIT};
use crate::group::wire::Signal;

/// How long the other side may take to read a last word.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// When a connection is to be looked at next.
fn due(stream: &Stream) -> Instant {
    match &stream.stage {
        Stage::Connecting => stream.since + CONNECT_LIMIT,
        Stage::Greeting => stream.since + GREETING_LIMIT,
        Stage::Leaving => stream.since + LEAVE_LIMIT,
        Stage::Linked(_) if stream.outgoing.bytes() > 0 => stream.heard + SILENCE_LIMIT,
        Stage::Linked(_) => (stream.heard + SILENCE_LIMIT).min(stream.said + ALIVE_EVERY),
    }
}

impl Links {
    /// How long nothing has to be done but what the network asks for.
    pub(super) fn idle_time(&self, now: Instant) -> Duration {
        let dials = self.targets.values().filter_map(|target| match target.standing {
            Standing::Waits(when) if !self.is_isolated => Some(when),
            _ => None,
        });
        let next = self.streams.values().map(due).chain(dials).chain(self.deaf_until).min();
        next.map_or(Duration::MAX, |next| next.saturating_duration_since(now))
    }

    /// Dials whom it is time to dial.
    pub(super) fn dial_due(&mut self, now: Instant) {
        if self.is_isolated {
            return;
        }
        for (address, target) in &mut self.targets {
            let mut outcome = target.take_answer(now).map(|()| None);
            if outcome.is_ok() && matches!(target.standing, Standing::Waits(when) if when <= now) {
                outcome = target.advance(address, &self.wake, now).inspect_err(|_| target.failed(None, now));
            }
            match outcome {
                Ok(None) => {}
                Ok(Some(socket)) => {
                    let stream = Stream::new(socket, Stage::Connecting, address.clone(), Some(address.clone()), now);
                    self.streams.insert(self.next_stream, stream);
                    self.next_stream += 1;
                }
                Err(error) => {
                    let text = format!("cannot connect: {error}");
                    self.waiting.extend(self.notes.refused(address, address, &text, now));
                }
            }
        }
    }

    /// Ends what took too long, and says that this node is still there. What has come is read before, so
    /// that a node is not held for silent because this one did not listen.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        if self.deaf_until.is_some_and(|until| until <= now) {
            self.deaf_until = None;
        }
        let overdue: Vec<u64> =
            self.streams.iter().filter(|(_, stream)| due(stream) <= now).map(|(id, _)| *id).collect();
        for id in overdue {
            let Some(stream) = self.streams.get(&id) else { continue };
            match stream.stage {
                Stage::Connecting => self.end(id, &format!("cannot connect: no answer for {CONNECT_LIMIT:?}")),
                Stage::Greeting => self.end(id, &format!("it did not say who it is for {GREETING_LIMIT:?}")),
                Stage::Leaving => self.end(id, ""),
                Stage::Linked(_) if stream.heard + SILENCE_LIMIT <= now => {
                    self.end(id, &format!("nothing was heard from it for {SILENCE_LIMIT:?}"));
                }
                Stage::Linked(_) => self.signal(id, &Signal::Alive),
            }
        }
    }
}
