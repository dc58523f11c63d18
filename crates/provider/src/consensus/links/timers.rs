//! Timeouts.

use std::time::{Duration, Instant};

use super::dial::DialState;
use super::stream::{Stage, Stream};
use super::{CONNECT_TIMEOUT, HANDSHAKE_TIMEOUT, KEEPALIVE_INTERVAL, Links, SILENCE_TIMEOUT};
use crate::consensus::wire::Signal;

/// How long the other side may take to read the last frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// When to check the connection next.
fn deadline(stream: &Stream) -> Instant {
    match &stream.stage {
        Stage::Connecting => stream.since + CONNECT_TIMEOUT,
        Stage::Handshake => stream.since + HANDSHAKE_TIMEOUT,
        Stage::Closing => stream.since + CLOSE_TIMEOUT,
        Stage::Linked(_) if stream.has_output() => stream.last_received + SILENCE_TIMEOUT,
        Stage::Linked(_) => (stream.last_received + SILENCE_TIMEOUT).min(stream.last_sent + KEEPALIVE_INTERVAL),
    }
}

/// What a handshake waits for.
fn missing_input(stream: &Stream) -> &'static str {
    let handshake = &stream.handshake;
    if handshake.awaits_admission {
        "the server has not told whether mysql.wsrep_allowlist has the node's address"
    } else if handshake.peer.is_some() {
        "the node has sent no proof"
    } else if stream.transport.is_open() {
        "the node has sent no hello"
    } else {
        "the node has not completed the TLS handshake"
    }
}

impl Links {
    /// How long there is nothing to do without input.
    pub(super) fn idle_time(&self, now: Instant) -> Duration {
        let dials = self.targets.values().filter_map(|target| match target.state {
            DialState::Waiting(when) if !self.is_isolated => Some(when),
            _ => None,
        });
        let next = self.streams.values().map(deadline).chain(dials).chain(self.accept_paused_until).min();
        next.map_or(Duration::MAX, |next| next.saturating_duration_since(now))
    }

    /// Dials the addresses that are due.
    pub(super) fn dial_due(&mut self, now: Instant) {
        if self.is_isolated {
            return;
        }
        for (address, target) in &mut self.targets {
            let mut outcome = target.poll_resolver(now).map(|()| None);
            if outcome.is_ok() && matches!(target.state, DialState::Waiting(when) if when <= now) {
                outcome = target.connect_next(address, &self.wake, now).inspect_err(|_| target.on_failed(None, now));
            }
            match outcome {
                Ok(None) => {}
                Ok(Some(socket)) => {
                    let stream = Stream::dial(socket, address, &self.security, self.own.versions, now);
                    self.streams.insert(self.next_stream, stream);
                    self.next_stream += 1;
                }
                Err(error) => {
                    let text = format!("cannot connect: {error}");
                    self.pending_events.extend(self.log_limiter.refused_event(address, address, &text, now));
                }
            }
        }
    }

    /// Closes connections that have timed out, and sends keepalives. Runs after input was read, so that no node counts
    /// as silent because this one did not read.
    pub(super) fn close_overdue(&mut self, now: Instant) {
        if self.accept_paused_until.is_some_and(|until| until <= now) {
            self.accept_paused_until = None;
        }
        let overdue: Vec<u64> =
            self.streams.iter().filter(|(_, stream)| deadline(stream) <= now).map(|(id, _)| *id).collect();
        for id in overdue {
            let Some(stream) = self.streams.get(&id) else { continue };
            match stream.stage {
                Stage::Connecting => self.close(id, &format!("cannot connect: no answer for {CONNECT_TIMEOUT:?}")),
                Stage::Handshake => {
                    let text = format!("{} for {HANDSHAKE_TIMEOUT:?}", missing_input(stream));
                    self.close(id, &text);
                }
                Stage::Closing => self.close(id, ""),
                Stage::Linked(_) if stream.last_received + SILENCE_TIMEOUT <= now => {
                    self.close(id, &format!("the node has sent nothing for {SILENCE_TIMEOUT:?}"));
                }
                Stage::Linked(_) => self.send_signal(id, &Signal::Keepalive),
            }
        }
    }
}
