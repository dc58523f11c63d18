//! Figures over all events since the last FLUSH STATUS: the lengths of a queue, and latencies.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// The lengths of a queue, sampled by each item that enters it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueLengths {
    /// The largest length, with the new item.
    pub max: i64,
    /// The least length that an item has found.
    pub min: i64,
    found: i64,
    items: i64,
}

impl QueueLengths {
    /// An item enters a queue that had this length.
    pub fn on_enter(&mut self, found: usize) {
        let found = i64::try_from(found).unwrap_or(i64::MAX - 1);
        self.max = self.max.max(found + 1);
        self.min = if self.items == 0 { found } else { self.min.min(found) };
        self.found = self.found.saturating_add(found);
        self.items += 1;
    }

    /// The mean length that the items have found.
    pub fn mean(&self) -> f64 {
        if self.items == 0 { 0.0 } else { self.found as f64 / self.items as f64 }
    }
}

/// Latencies in seconds: least, mean, most, standard deviation and number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latencies {
    min: f64,
    mean: f64,
    max: f64,
    /// Sum of the squared differences from the mean (Welford, 1962).
    squares: f64,
    count: u64,
}

impl Latencies {
    /// One more.
    pub fn add(&mut self, latency: Duration) {
        let seconds = latency.as_secs_f64();
        self.min = if self.count == 0 { seconds } else { self.min.min(seconds) };
        self.max = self.max.max(seconds);
        self.count += 1;
        let difference = seconds - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (seconds - self.mean);
    }

    /// As `wsrep_evs_repl_latency` has them: the five figures with slashes between.
    pub fn text(&self) -> String {
        let deviation = if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() };
        format!("{}/{}/{}/{}/{}", micros(self.min), micros(self.mean), micros(self.max), micros(deviation), self.count)
    }
}

/// Seconds with six digits after the point, without zeros at the end.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
