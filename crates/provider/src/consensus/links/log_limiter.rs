//! Limits the lines in the error log about failed connections: the first is logged, repetitions rarely.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Event;

/// The same message about the same host is logged again after this long.
const REPEAT_INTERVAL: Duration = Duration::from_secs(60);
/// Limit of remembered messages.
const RECENT_LIMIT: usize = 64;
/// As many messages may be logged at once …
const BURST: u32 = 8;
/// … and then one per interval.
const REFILL_INTERVAL: Duration = Duration::from_secs(5);
/// Texts of other nodes are cut to this length.
const TEXT_LIMIT_CHARS: usize = 500;

/// The messages logged lately.
#[derive(Debug, Default)]
pub(super) struct LogLimiter {
    recent: VecDeque<(String, String, Instant)>,
    logged: u32,
    /// Start of the interval that `logged` counts in.
    since: Option<Instant>,
    /// Messages that were not logged.
    suppressed: u64,
}

impl LogLimiter {
    /// The event, unless it was logged a short time ago. The port of an incoming connection changes each time, so
    /// `host` identifies it.
    pub fn refused_event(&mut self, host: &str, address: &str, text: &str, now: Instant) -> Option<Event> {
        self.recent.retain(|(_, _, told)| now.saturating_duration_since(*told) < REPEAT_INTERVAL);
        if self.recent.iter().any(|(known_host, known, _)| known_host == host && known == text) {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        let regained = now.saturating_duration_since(since).as_secs() / REFILL_INTERVAL.as_secs();
        if regained > 0 {
            self.logged = self.logged.saturating_sub(u32::try_from(regained).unwrap_or(u32::MAX));
            self.since = Some(now);
        }
        if self.logged >= BURST {
            self.suppressed += 1;
            return None;
        }
        self.logged += 1;
        if self.recent.len() == RECENT_LIMIT {
            self.recent.pop_front();
        }
        self.recent.push_back((host.to_owned(), text.to_owned(), now));
        let more = match std::mem::take(&mut self.suppressed) {
            0 => String::new(),
            count => format!(" ({count} earlier messages were suppressed)"),
        };
        Some(Event::Refused { address: address.to_owned(), text: format!("{text}{more}") })
    }
}

/// A text of another node, on one line of limited length.
pub(super) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(TEXT_LIMIT_CHARS).map(plain).collect()
}
