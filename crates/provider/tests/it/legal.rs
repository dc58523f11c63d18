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
/// The number of runs, and of those that follow on a busy machine, where not all of these events may come within the first.
const RUNS: u64 = 3;
const FURTHER_RUNS: u64 = 9;

#[test]
fn legal_calls_keep_the_order() {
    let mut counts = Counts::default();
    let seeds = harness::seeds(RUNS);
    let further = (seeds.iter().max().unwrap() + 1..).take(FURTHER_RUNS as usize);
    for (run, seed) in seeds.iter().copied().chain(further).enumerate() {
        if run >= seeds.len() && counts.has_all(&EVENTS) {
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
