//! Illegal calls: any result is fine, but no crash and no hanging call, and the node still serves correct callers.

use crate::harness;

#[test]
fn illegal_calls_get_errors_and_harm_no_other_transaction() {
    for seed in harness::seeds(4) {
        let folder = tempfile::tempdir().unwrap();
        harness::run(&["illegal", folder.path().to_str().unwrap(), &seed.to_string(), "400"]);
    }
}
