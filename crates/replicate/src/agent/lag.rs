//! How far the target is behind a source: what is known of it, and when it was heard.

use std::time::{Duration, Instant};

use super::status::SourceState;

/// A running source that is idle says so more often than that.
const IDLE_FOR: Duration = Duration::from_secs(2);
/// What the source's log had behind the applied position is known for this long. It is asked for more often.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// What is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    /// The target has what the source began up to this time, in seconds since 1970.
    complete_until_s: Option<u64>,
    /// When the target had everything.
    caught_up: Option<Instant>,
    /// What the log had behind the applied position, in bytes, and when.
    behind: Option<(u64, Instant)>,
}

impl Lag {
    /// The target has a transaction that the source began at a time.
    pub(super) fn on_commit(&mut self, began_s: u64) {
        self.complete_until_s = Some(began_s);
        self.caught_up = None;
    }

    /// The target has everything that the source has written.
    pub(super) fn on_idle(&mut self, now: Instant, now_s: u64) {
        (self.complete_until_s, self.caught_up, self.behind) = (Some(now_s), Some(now), Some((0, now)));
    }

    /// The source has said how much its log has behind the applied position.
    pub(super) fn on_log(&mut self, bytes: Option<u64>, now: Instant, now_s: u64) {
        match bytes {
            Some(0) => self.on_idle(now, now_s),
            bytes => (self.caught_up, self.behind) = (None, bytes.map(|bytes| (bytes, now))),
        }
    }

    /// Whether the target had everything a moment ago.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        self.caught_up.is_some_and(|at| now.saturating_duration_since(at) < IDLE_FOR)
    }

    /// Bytes that the log has behind the applied position.
    pub(super) fn bytes(&self, now: Instant) -> Option<u64> {
        let (bytes, at) = self.behind?;
        (now.saturating_duration_since(at) < KNOWN_FOR).then_some(bytes)
    }

    /// Seconds that the target is behind. A source that does not run is asked what it has written meanwhile; where it does
    /// not say, only one that a transaction has stopped is known to be behind.
    pub(super) fn seconds(&self, state: SourceState, at_transaction: bool, now: Instant, now_s: u64) -> Option<u64> {
        let idle = if state == SourceState::Running { IDLE_FOR } else { KNOWN_FOR };
        if self.caught_up.is_some_and(|at| now.saturating_duration_since(at) < idle) {
            return Some(0);
        }
        let is_known = match state {
            SourceState::Running => true,
            SourceState::Stopped if at_transaction => true,
            _ => self.bytes(now).is_some(),
        };
        self.complete_until_s.filter(|_| is_known).map(|until_s| now_s.saturating_sub(until_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known at some second, and what comes of it `later_s` seconds later in each state: running, paused, stopped
    /// by a transaction.
    fn check(lag: &Lag, begin: Instant, later_s: u64, expected: [Option<u64>; 3], bytes: Option<u64>) {
        let (now, now_s) = (begin + Duration::from_secs(later_s), 1_000 + later_s);
        let states = [(SourceState::Running, false), (SourceState::Paused, false), (SourceState::Stopped, true)];
        assert_eq!(states.map(|(state, at)| lag.seconds(state, at, now, now_s)), expected, "{later_s} s later");
        assert_eq!(lag.bytes(now), bytes, "{later_s} s later");
    }

    #[test]
    fn lag_in_each_state() {
        let begin = Instant::now();
        let mut lag = Lag::default();
        check(&lag, begin, 0, [None; 3], None);
        // An idle source.
        lag.on_idle(begin, 1_000);
        check(&lag, begin, 1, [Some(0); 3], Some(0));
        // It says nothing for a while: a running one is applying something.
        check(&lag, begin, 5, [Some(5), Some(0), Some(0)], Some(0));
        check(&lag, begin, 60, [Some(60), None, Some(60)], None);
        // A transaction that had begun 20 s before.
        lag.on_commit(980);
        check(&lag, begin, 0, [Some(20), Some(20), Some(20)], Some(0));
        // It is paused, and the source writes.
        lag.on_idle(begin, 1_000);
        lag.on_log(Some(700), begin + Duration::from_secs(100), 1_100);
        check(&lag, begin, 105, [Some(105); 3], Some(700));
        check(&lag, begin, 120, [Some(120), None, Some(120)], None);
        // It writes nothing.
        lag.on_log(Some(0), begin + Duration::from_secs(200), 1_200);
        check(&lag, begin, 201, [Some(0); 3], Some(0));
        // It cannot be asked.
        lag.on_log(None, begin + Duration::from_secs(300), 1_300);
        check(&lag, begin, 300, [Some(100), None, Some(100)], None);
        // Clocks that differ.
        lag.on_commit(5_000);
        check(&lag, begin, 300, [Some(0), None, Some(0)], None);
    }
}
