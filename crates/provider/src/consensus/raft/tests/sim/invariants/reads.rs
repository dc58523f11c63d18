//! ReadIndex (6.4): a confirmed read sees everything that was reported before it started.

use crate::consensus::NodeId;
use crate::log::Index;

pub fn check(node: NodeId, floor: Index, upto: Index, highest: Index) {
    let is_fresh = upto >= floor;
    assert!(is_fresh, "{node} reads at {}, though {} was committed when it asked, {} now", upto.0, floor.0, highest.0);
}
