//! The throttle in the summary of a load.

use serde::Serialize;

/// What the user's limits did to a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThrottleSummary {
    /// The limits in force at the end, as users write them.
    pub limits: String,
    /// Seconds for which threads of the load were paused, all threads together.
    pub paused_s: f64,
    /// Seconds for which they waited for the rate, all threads together.
    pub rate_delayed_s: f64,
    /// Replicas that the load did not wait for, files that are not understood, and other notes.
    pub notes: Vec<String>,
}
