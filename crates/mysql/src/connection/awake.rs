//! When a reader stays awake for an answer that is about to come. Pure.
//!
//! To sleep and to be woken takes longer than many a short statement takes the server: where the machine has a core to spare,
//! the reader looks again and again instead, for [`LIMIT`]. Where the answers take longer it sleeps, and tries again now and then.

use std::time::Duration;

/// How long a reader stays awake.
pub(super) const LIMIT: Duration = Duration::from_micros(60);
/// Answers that are slept for between two tries, at most.
const PAUSE_LIMIT: u32 = 1 << 10;

/// What the answers so far say.
#[derive(Debug, Default)]
pub(super) struct Awake {
    /// Answers that are slept for behind the next one that does not come in time.
    pause: u32,
    /// Those that are left.
    left: u32,
}

impl Awake {
    /// Whether to stay awake for the next answer.
    pub(super) fn is_worth_it(&mut self) -> bool {
        let is_paused = self.left > 0;
        self.left = self.left.saturating_sub(1);
        !is_paused
    }

    /// The answer has come while the reader was awake.
    pub(super) fn came(&mut self) {
        self.pause /= 2;
    }

    /// It has not.
    pub(super) fn did_not_come(&mut self) {
        self.pause = (2 * self.pause + 1).min(PAUSE_LIMIT);
        self.left = self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many answers the reader is awake for; each comes in time or not.
    fn awake(state: &mut Awake, answers: u32, in_time: bool) -> u32 {
        let mut count = 0;
        for _ in 0..answers {
            if state.is_worth_it() {
                count += 1;
                let note = if in_time { Awake::came } else { Awake::did_not_come };
                note(state);
            }
        }
        count
    }

    #[test]
    fn long_answers_are_slept_for() {
        let mut state = Awake::default();
        assert_eq!(awake(&mut state, 1000, true), 1000);
        assert_eq!(awake(&mut state, 1000, false), 9);
        // Short ones are found again.
        assert!(awake(&mut state, 10_000, true) > 7900);
    }
}
