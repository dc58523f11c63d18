//! How many transactions a second: counted by the second, over a window that moves.

/// Seconds that the rate is of.
const WINDOW_S: u64 = 10;
/// The window, and the second that is not over.
const SLOTS: usize = WINDOW_S as usize + 1;

/// Counts of the last seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    /// Each second has the slot of its remainder.
    slots: [u64; SLOTS],
    /// The last second that was counted in, since a beginning.
    last_s: u64,
}

impl Rate {
    /// Counts more in a second, which is no earlier than the one before.
    pub(super) fn add(&mut self, now_s: u64, count: u64) {
        self.advance(now_s);
        self.slots[slot(now_s)] += count;
    }

    /// Per second, over the seconds of the window that are over and have been since the beginning.
    pub(super) fn per_s(&mut self, now_s: u64) -> f64 {
        self.advance(now_s);
        let seconds = now_s.min(WINDOW_S);
        if seconds == 0 {
            return 0.0;
        }
        let sum: u64 = (1..=seconds).map(|ago_s| self.slots[slot(now_s - ago_s)]).sum();
        // One digit behind the point says enough.
        (sum as f64 * 10.0 / seconds as f64).round() / 10.0
    }

    /// Empties the slots of seconds in which nothing was counted.
    fn advance(&mut self, now_s: u64) {
        let first = (self.last_s + 1).max(now_s.saturating_sub(WINDOW_S));
        (first..=now_s).for_each(|second| self.slots[slot(second)] = 0);
        self.last_s = self.last_s.max(now_s);
    }
}

fn slot(second: u64) -> usize {
    (second % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_the_last_seconds() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_s(0), 0.0);
        rate.add(0, 30);
        assert_eq!(rate.per_s(0), 0.0, "the second is not over");
        assert_eq!(rate.per_s(1), 30.0);
        assert_eq!(rate.per_s(4), 7.5);
        (4..20).for_each(|second| rate.add(second, 100));
        assert_eq!(rate.per_s(20), 100.0);
        rate.add(20, 5_000);
        assert_eq!(rate.per_s(20), 100.0);
        assert_eq!(rate.per_s(21), 590.0);
        assert_eq!(rate.per_s(30), 500.0);
        assert_eq!(rate.per_s(31), 0.0);
        rate.add(1_000_000, 7);
        assert_eq!(rate.per_s(1_000_001), 0.7);
        assert_eq!(rate.per_s(2_000_000), 0.0);
    }
}
