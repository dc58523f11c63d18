//! Sixteen clients make all calls of a server at once; then a second process recovers from any seqno of the first one.

use crate::harness::{self, Counts};

/// What a run must have seen.
const EVENTS: [&str; 10] = [
    "committed",
    "rolled back",
    "replayed",
    "certification failed",
    "aborted",
    "isolated",
    "streamed",
    "refused",
    "paused",
    "reconnected",
];
/// The number of runs, and its limit: on a busy machine not all of these events may come within three runs.
const RUNS: (usize, usize) = (3, 12);

#[test]
fn legal_calls_keep_the_order() {
    let mut counts = Counts::default();
    for (run, seed) in harness::seeds(RUNS.1 as u64).into_iter().enumerate() {
        if run >= RUNS.0 && counts.has_all(&EVENTS) {
            break;
        }
        let folder = tempfile::tempdir().unwrap();
        let (folder, seed) = (folder.path().to_str().unwrap(), seed.to_string());
        counts.add(&harness::run(&["legal", folder, &seed, "2500"]));
        // Stopped cleanly, and restarted from any seqno.
        counts.add(&harness::run(&["legal", folder, &seed, "0"]));
    }
    counts.assert_some(&EVENTS);
}
