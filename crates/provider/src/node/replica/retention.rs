//! Which part of the log stays: a pure state machine.
//!
//! | who needs entries | from | why |
//! |---|---|---|
//! | joiners | the snapshot point | certification, see [`TotalOrder::snapshot_point`](crate::node::TotalOrder) |
//! | this node's tables | what they had applied [`RetainTime`] ago | the engine flushes its own log later than it commits |
//! | a linked node | the entry after its log | else it needs an SST |
//! | a joiner with a new log | the snapshot point that it got | its server can prepare for one SST only |
//! | a new voter | what a majority of the voters lacks (`purge`) | else its leader commits nothing, and can arrange no SST |
//!
//! The wsrep API does not tell what the engine has on its disk, so time stands for it: with
//! `innodb_flush_log_at_trx_commit=0`, InnoDB flushes every `innodb_flush_log_at_timeout` seconds. The time of a
//! snapshot point counts from the moment when this node's own tables have reached it, not from the commit cut: a node
//! that catches up orders commit cuts long before it applies what they cover.
//!
//! *Absent*: the log, the clock, threads. `log.retain` bytes stay in any case ([`DiskLog::purge`](crate::log::DiskLog)).

use std::collections::VecDeque;

use crate::log::Index;

/// Limit of snapshot points that wait for their time.
const WAITING_POINTS_LIMIT: usize = 1024;

/// How long applied entries stay.
#[derive(Clone, Copy, Debug)]
pub(in crate::node) struct RetainTime {
    pub ms: u64,
}

/// A node that the leader sends entries to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkedNode {
    /// Its log equals this one up to here.
    pub match_index: Index,
    /// Its next entry is purged already.
    pub needs_snapshot: bool,
    /// It was told to begin its log after this entry.
    pub snapshot: Option<Index>,
}

impl LinkedNode {
    /// The first entry that it needs. None: none, since only an SST helps it, and that begins anywhere.
    fn needs_from(&self) -> Option<Index> {
        let snapshot = self.snapshot.unwrap_or_default();
        if self.needs_snapshot {
            return self.snapshot.map(Index::next);
        }
        Some(self.match_index.max(snapshot).next())
    }
}

/// A snapshot point that becomes the start of the log.
#[derive(Clone, Copy, Debug)]
struct Point {
    index: Index,
    /// Tables up to this seqno need nothing before it.
    seqno: i64,
    /// Since when this node's tables have reached it.
    applied_since_ms: Option<u64>,
}

/// The snapshot points, oldest first.
#[derive(Debug)]
pub(super) struct Retention {
    time: RetainTime,
    points: VecDeque<Point>,
    /// The latest point that has had its time.
    purgeable: Index,
}

impl Retention {
    pub fn new(time: RetainTime) -> Self {
        Self { time, points: VecDeque::new(), purgeable: Index(0) }
    }

    /// A log may begin at `index` for joiners, and for tables that are applied up to `seqno`.
    pub fn add_point(&mut self, index: Index, seqno: i64) {
        let is_new = self.points.back().is_none_or(|latest| latest.index < index) && self.purgeable < index;
        if is_new {
            if self.points.len() == WAITING_POINTS_LIMIT {
                // A later point stands for it: the log becomes longer, never too short.
                self.points.pop_back();
            }
            self.points.push_back(Point { index, seqno, applied_since_ms: None });
        }
    }

    /// The first entry that somebody needs; nothing before it is needed. `applied`: this node's tables. None: nothing
    /// may be purged.
    pub fn purge_below(
        &mut self,
        now_ms: u64,
        applied: i64,
        linked: impl IntoIterator<Item = LinkedNode>,
    ) -> Option<Index> {
        for point in self.points.iter_mut().take_while(|point| point.seqno <= applied) {
            point.applied_since_ms.get_or_insert(now_ms);
        }
        let time_ms = self.time.ms;
        let is_over =
            |point: &&Point| point.applied_since_ms.is_some_and(|since| now_ms.saturating_sub(since) >= time_ms);
        while let Some(point) = self.points.front().filter(is_over) {
            self.purgeable = point.index;
            self.points.pop_front();
        }
        let needed = linked.into_iter().filter_map(|node| node.needs_from()).min();
        let below = needed.map_or(self.purgeable, |needed| needed.min(self.purgeable));
        (below > Index(1)).then_some(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: RetainTime = RetainTime { ms: 100 };

    fn node(match_index: u64, needs_snapshot: bool, snapshot: Option<u64>) -> LinkedNode {
        LinkedNode { match_index: Index(match_index), needs_snapshot, snapshot: snapshot.map(Index) }
    }

    /// A log whose first 499 entries nobody needs any more.
    fn purgeable_to_500() -> Retention {
        let mut retention = Retention::new(TIME);
        retention.add_point(Index(500), 480);
        assert_eq!(retention.purge_below(0, 480, []), None);
        assert_eq!(retention.purge_below(100, 480, []), Some(Index(500)));
        retention
    }

    #[test]
    fn the_time_counts_from_when_the_own_tables_have_applied_it() {
        let mut retention = Retention::new(TIME);
        retention.add_point(Index(500), 480);
        assert_eq!(retention.purge_below(1_000, 479, []), None);
        assert_eq!(retention.purge_below(2_000, 480, []), None, "applied just now, and not on the disk");
        assert_eq!(retention.purge_below(2_099, 900, []), None);
        assert_eq!(retention.purge_below(2_100, 900, []), Some(Index(500)));
    }

    #[test]
    fn each_point_has_its_own_time() {
        let mut retention = Retention::new(TIME);
        retention.add_point(Index(500), 480);
        retention.purge_below(0, 480, []);
        retention.add_point(Index(900), 870);
        assert_eq!(retention.purge_below(100, 800, []), Some(Index(500)));
        assert_eq!(retention.purge_below(150, 870, []), Some(Index(500)));
        assert_eq!(retention.purge_below(250, 870, []), Some(Index(900)));
    }

    #[test]
    fn a_linked_node_keeps_what_it_lacks() {
        let needed = |linked: &[LinkedNode]| purgeable_to_500().purge_below(200, 480, linked.iter().copied());
        assert_eq!(needed(&[node(600, false, None)]), Some(Index(500)));
        assert_eq!(needed(&[node(600, false, None), node(300, false, None)]), Some(Index(301)));
        assert_eq!(needed(&[node(0, false, None)]), None, "nothing is known of it yet");
    }

    #[test]
    fn a_node_that_needs_an_sst_keeps_nothing_until_its_new_log_begins() {
        let needed = |linked: &[LinkedNode]| purgeable_to_500().purge_below(200, 480, linked.iter().copied());
        assert_eq!(needed(&[node(0, true, None)]), Some(Index(500)));
        assert_eq!(needed(&[node(0, true, Some(300))]), Some(Index(301)));
        assert_eq!(needed(&[node(350, false, Some(300))]), Some(Index(351)));
    }

    #[test]
    fn more_points_than_the_limit_keep_more_of_the_log() {
        let mut retention = Retention::new(TIME);
        let count = WAITING_POINTS_LIMIT as u64 + 10;
        for nth in 1..=count {
            retention.add_point(Index(nth * 10), nth as i64);
        }
        retention.purge_below(0, i64::MAX, []);
        assert_eq!(retention.purge_below(100, i64::MAX, []), Some(Index(count * 10)));
        retention.add_point(Index(count * 10), count as i64);
        assert!(retention.points.is_empty(), "a point that had its time is not new");
    }
}
