//! The times of confirmed writes, and the longest time without any.

use std::time::Duration;

/// The pace of a run, measured from its beginning.
#[derive(Debug, Default)]
pub struct Pace {
    /// Confirmed writes per second.
    seconds: Vec<usize>,
    last: Duration,
    longest_stall: Duration,
}

impl Pace {
    /// Records a write that was confirmed at that time.
    pub fn confirm(&mut self, at: Duration) {
        let second = usize::try_from(at.as_secs()).unwrap();
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, 0);
        }
        self.seconds[second] += 1;
        self.longest_stall = self.longest_stall.max(at.saturating_sub(self.last));
        self.last = self.last.max(at);
    }

    pub fn confirmed(&self) -> usize {
        self.seconds.iter().sum()
    }

    /// The number of whole seconds without a confirmed write.
    pub fn empty_seconds(&self) -> usize {
        self.seconds.iter().filter(|confirmed| **confirmed == 0).count()
    }

    pub fn longest_stall(&self) -> Duration {
        self.longest_stall
    }
}

#[test]
fn seconds_and_stalls_are_counted() {
    let mut pace = Pace::default();
    [100, 200, 3500, 3400].into_iter().map(Duration::from_millis).for_each(|at| pace.confirm(at));
    assert_eq!((pace.confirmed(), pace.empty_seconds(), pace.longest_stall()), (4, 2, Duration::from_millis(3300)));
}
