//! A node with Hortator's own provider.

use hortator_sandbox::Builder;

#[test]
fn more_than_one_node_is_refused() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let message = Builder::cluster(2).dir(dir.path()).create("two").unwrap_err().to_string();
    assert!(message.contains("makes clusters of 1 so far"), "{message}");
    assert!(!dir.path().join("two").exists());
}
