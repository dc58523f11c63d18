//! Leader completeness (3.2): what was committed is in the log of every leader that comes after.

use crate::group::NodeId;
use crate::log::Index;

use super::super::disk::Disk;
use super::super::world::Entry;

pub fn check(node: NodeId, disk: &Disk, order: &[Entry]) {
    assert!(disk.last().0 >= order.len() as u64, "{node} leads without {} and what is before", order.len());
    for at in disk.base().index.0 + 1..=order.len() as u64 {
        assert_eq!(disk.entry(Index(at)), &order[at as usize - 1], "{node} leads with another entry at {at}");
    }
}
