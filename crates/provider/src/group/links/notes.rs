//! What the server's log is told of connections that came to nothing: the first time, and then seldom.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Event;

/// The same of the same is told again after this long.
const AGAIN_AFTER: Duration = Duration::from_secs(60);
/// As many different ones are known.
const KNOWN_LIMIT: usize = 64;
/// As many may be told at once …
const BURST: u32 = 8;
/// … and then one in this time.
const ONE_IN: Duration = Duration::from_secs(5);
/// What another side wrote is cut to so many characters.
const TEXT_LIMIT_CHARS: usize = 500;

/// What was told lately.
#[derive(Debug, Default)]
pub(super) struct Notes {
    known: VecDeque<(String, String, Instant)>,
    told: u32,
    /// Since when `told` counts.
    since: Option<Instant>,
    /// Those that were not told.
    left_out: u64,
}

impl Notes {
    /// The event, unless it was told a short time ago. A stranger's port is new every time: `host` is what it is known by.
    pub fn refused(&mut self, host: &str, address: &str, text: &str, now: Instant) -> Option<Event> {
        self.known.retain(|(_, _, told)| now.saturating_duration_since(*told) < AGAIN_AFTER);
        if self.known.iter().any(|(known_host, known, _)| known_host == host && known == text) {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        let regained = now.saturating_duration_since(since).as_secs() / ONE_IN.as_secs();
        if regained > 0 {
            self.told = self.told.saturating_sub(u32::try_from(regained).unwrap_or(u32::MAX));
            self.since = Some(now);
        }
        if self.told >= BURST {
            self.left_out += 1;
            return None;
        }
        self.told += 1;
        if self.known.len() == KNOWN_LIMIT {
            self.known.pop_front();
        }
        self.known.push_back((host.to_owned(), text.to_owned(), now));
        let more = match std::mem::take(&mut self.left_out) {
            0 => String::new(),
            count => format!(" ({count} others before it were not noted)"),
        };
        Some(Event::Refused { address: address.to_owned(), text: format!("{text}{more}") })
    }
}

/// What another side wrote, on one line of bounded length.
pub(super) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(TEXT_LIMIT_CHARS).map(plain).collect()
}
