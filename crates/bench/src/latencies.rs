//! The latencies of a measured window, as a histogram: its size does not grow with the number of operations.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Longer operations count as one of this length, an hour.
const MOST_US: u64 = 3_600_000_000;
/// Significant decimal digits: a percentile is exact to one part in a thousand.
const DIGITS: u8 = 3;

/// Latencies in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // It grows to what it holds: hundreds of threads have one each.
        let mut histogram = Histogram::new_with_bounds(1, 1_000, DIGITS).expect("the bounds are constants");
        histogram.auto(true);
        Self(histogram)
    }
}

impl Latencies {
    /// Counts an operation; its repetitions after an error are part of its time.
    pub(crate) fn add(&mut self, latency: Duration) {
        let us = u64::try_from(latency.as_micros()).unwrap_or(MOST_US).clamp(1, MOST_US);
        self.0.record(us).expect("the histogram grows to its largest value");
    }

    /// Counts those of another one, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("the histogram grows to its largest value");
    }

    /// The number of operations.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that this share of the operations did not exceed. None without operations: the window was too short.
    pub(crate) fn quantile_ms(&self, share: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(share) as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_all_threads_together_are_exact_to_a_thousandth() {
        let (mut all, mut other) = (Latencies::default(), Latencies::default());
        assert_eq!((all.count(), all.quantile_ms(0.5)), (0, None));
        for ms in 1..=500 {
            all.add(Duration::from_millis(ms));
            other.add(Duration::from_millis(500 + ms));
        }
        all.merge(&other);
        for (share, expected) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0), (1.0, 1_000.0)] {
            let found = all.quantile_ms(share).unwrap();
            assert!((found / expected - 1.0_f64).abs() < 0.002, "{share}: {found}");
        }
        assert_eq!(all.count(), 1_000);
    }

    #[test]
    fn no_length_is_too_short_or_too_long() {
        let mut all = Latencies::default();
        all.add(Duration::ZERO);
        all.add(Duration::from_secs(1_000_000));
        assert_eq!(all.count(), 2);
        assert!(all.quantile_ms(1.0) > Some(3.5e6));
    }
}
