//! Whether groups go side by side: not while most of them wait for each other. Pure.
//!
//! Groups that wait for each other are faster over one connection, which keeps the rows' pages and its turn. After a number
//! of groups over one connection it is tried again, after ever more where that changes nothing.

/// Groups by which it is decided.
const WINDOW: u32 = 8;
/// The first rest, and the longest one, in groups.
const SHORTEST_REST: u32 = 8;
const LONGEST_REST: u32 = 1_024;
/// What a group that runs again counts for, in groups that wait.
const AGAIN: u32 = 2;

/// How groups have fared.
#[derive(Debug)]
pub(in crate::apply) struct Pace {
    groups: u32,
    in_vain: u32,
    /// Groups that still go over one connection, and how many will the next time.
    rest: u32,
    next_rest: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { groups: 0, in_vain: 0, rest: 0, next_rest: SHORTEST_REST }
    }
}

impl Pace {
    /// Whether the next group goes beside others.
    pub(in crate::apply) fn is_side_by_side(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        !rests
    }

    /// A group goes beside others. `waits`: it waits for one of them.
    pub(in crate::apply) fn on_group(&mut self, waits: bool) {
        self.groups += 1;
        self.in_vain += u32::from(waits);
        self.decide();
    }

    /// So many groups were rolled back and run again.
    pub(in crate::apply) fn on_again(&mut self, groups: u32) {
        self.in_vain = self.in_vain.saturating_add(groups.saturating_mul(AGAIN));
        self.decide();
    }

    fn decide(&mut self) {
        if self.in_vain > WINDOW / 2 {
            self.rest = self.next_rest;
            self.next_rest = (self.next_rest * 2).min(LONGEST_REST);
            (self.groups, self.in_vain) = (0, 0);
        } else if self.groups >= WINDOW {
            self.next_rest = SHORTEST_REST;
            (self.groups, self.in_vain) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many groups, those that go side by side.
    fn side_by_side(pace: &mut Pace, groups: u32, waits: impl Fn(u32) -> bool) -> u32 {
        let mut count = 0;
        for group in 0..groups {
            if pace.is_side_by_side() {
                count += 1;
                pace.on_group(waits(group));
            }
        }
        count
    }

    #[test]
    fn groups_that_wait_rest_ever_longer() {
        let mut pace = Pace::default();
        assert_eq!(side_by_side(&mut pace, 1_000, |group| group % 2 == 0), 1_000, "half of them gain");
        let tried = side_by_side(&mut pace, 10_000, |_| true);
        assert!((50..200).contains(&tried), "{tried} of 10,000");
        let tried = side_by_side(&mut pace, 10_000, |_| false);
        assert!(tried >= 10_000 - LONGEST_REST, "{tried}: it goes on where the rows are others");
    }

    #[test]
    fn what_runs_again_counts() {
        let mut pace = Pace::default();
        pace.on_again(WINDOW);
        assert!(!pace.is_side_by_side());
    }
}
