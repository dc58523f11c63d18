//! Leader completeness (3.2): committed entries are in the logs of the leaders of all later terms. (A node may still
//! become leader of an earlier term in its own view.)

use crate::consensus::NodeId;
use crate::consensus::raft::Term;
use crate::log::Index;

use super::super::disk::Disk;
use super::super::world::Entry;

/// `committed_in`: by index, the term in which the entry was known to be committed.
pub fn check(node: NodeId, term: Term, disk: &Disk, order: &[Entry], committed_in: &[Term]) {
    let count = committed_in.partition_point(|in_term| *in_term < term) as u64;
    assert!(disk.last().0 >= count, "{node} leads without {count} and what is before");
    for at in disk.last_purged().index.0 + 1..=count {
        assert_eq!(disk.entry(Index(at)), &order[at as usize - 1], "{node} leads with another entry at {at}");
    }
}
