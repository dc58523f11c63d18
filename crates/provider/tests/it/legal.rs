//! Sixteen clients do all that a server does, at once; then a second process is given again what the first had, from any
//! place on.

use crate::harness::{self, Counts};

#[test]
fn legal_calls_keep_the_order() {
    let mut counts = Counts::default();
    for seed in harness::seeds(3) {
        let folder = tempfile::tempdir().unwrap();
        let (folder, seed) = (folder.path().to_str().unwrap(), seed.to_string());
        counts.add(&harness::run(&["legal", folder, &seed, "2500"]));
        // Stopped in order, and begun again from anywhere.
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
