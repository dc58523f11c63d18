//! Log matching (3.2): two logs with an entry of the same term at the same index are the same up to there.

use crate::consensus::raft::tests::sim::disk::Disk;

pub fn check(disks: &[&Disk]) {
    for (nth, one) in disks.iter().enumerate() {
        for other in &disks[nth + 1..] {
            let first = one.last_purged().index.max(other.last_purged().index).next();
            let last = one.last().min(other.last());
            let mut is_same_behind = false;
            for at in (first.0..=last.0).rev().map(crate::log::Index) {
                let (ours, theirs) = (one.entry(at), other.entry(at));
                is_same_behind |= ours.meta.term == theirs.meta.term;
                assert!(!is_same_behind || ours == theirs, "at {}: {ours:?}, and {theirs:?}", at.0);
            }
        }
    }
}
