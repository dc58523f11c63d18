//! The library that a server loads contains no code whose licence does not allow that.

use std::fs;

use crate::harness;

/// The prefix of the symbols of `ring`, which rustls uses elsewhere in the workspace. Its licence contains Apache-2.0.
const FOREIGN: &[u8] = b"ring_core_";
/// A symbol that the library has.
const OWN: &[u8] = b"wsrep_loader";

#[test]
fn the_library_has_no_code_of_ring() {
    let bytes = fs::read(harness::library()).unwrap();
    let has = |symbol: &[u8]| bytes.windows(symbol.len()).any(|window| window == symbol);
    assert!(has(OWN), "the symbols are not readable");
    assert!(!has(FOREIGN), "ring is linked into the library");
}
