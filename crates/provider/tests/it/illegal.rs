//! Calls that no server should make: any answer will do, but no crash, no call that does not return, and a node that
//! goes on serving those who do it right.

use crate::harness;

#[test]
fn illegal_calls_get_errors_and_harm_no_other_transaction() {
    for seed in harness::seeds(4) {
        let folder = tempfile::tempdir().unwrap();
        harness::run(&["illegal", folder.path().to_str().unwrap(), &seed.to_string(), "400"]);
    }
}
