//! Reads by a round of heartbeats (6.4): who reads what is confirmed sees all that anybody was told before it asked.

use crate::consensus::NodeId;
use crate::log::Index;

pub fn check(node: NodeId, floor: Index, upto: Index, highest: Index) {
    let is_fresh = upto >= floor;
    assert!(is_fresh, "{node} reads at {}, though {} was committed when it asked, {} now", upto.0, floor.0, highest.0);
}
