//! Sixteen clients make all calls of a server at once; then a second process recovers from any seqno of the first one.

use crate::harness::{self, Counts};

#[test]
fn legal_calls_keep_the_order() {
    let mut counts = Counts::default();
    for seed in harness::seeds(3) {
        let folder = tempfile::tempdir().unwrap();
        let (folder, seed) = (folder.path().to_str().unwrap(), seed.to_string());
        counts.add(&harness::run(&["legal", folder, &seed, "2500"]));
        // Stopped cleanly, and restarted from any seqno.
        counts.add(&harness::run(&["legal", folder, &seed, "0"]));
    }
    counts.assert_some(&[
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
    ]);
}
