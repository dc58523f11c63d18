//! Nodes that do not catch up by themselves: the others write as fast as such a node applies, or faster.
//!
//! A node outside the view, after a restart or an SST, applies what the others have written meanwhile, and gets its place
//! when it lacks nearly nothing. Flow control waits for members only. So when a node would not catch up in
//! [`EXPECTED_MS`], the leader holds writes back: the writers have half the speed of that node, or a tenth of their own
//! if that is more, until it is in the view. If that does not help either, they wait no more.

use std::collections::BTreeMap;

use super::Replica;
use super::host::Host;
use crate::consensus::NodeId;
use crate::server::Level;

#[cfg(test)]
mod tests;

/// How long a node's gain is watched.
const PATIENCE_MS: u64 = 10_000;
/// A node that will be there within this time gets no help, and one that will not in spite of the help no more.
const EXPECTED_MS: u64 = 600_000;
/// A node that has applied nothing for this long is stuck, or receives its tables: nobody waits for it.
const STUCK_MS: u64 = 5_000;
/// Writes are not held back for less.
const LEAST_LACKED: i64 = 32;
/// The writers' part of their own speed that they keep.
const KEPT_PART: i64 = 10;
/// How often the writers get their part.
const STEP_MS: u64 = 100;

/// What is done for the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Help {
    /// It is watched.
    NotYet,
    /// Writes are held back while it lacks more than `may_lack`.
    Given { may_lack: i64, since_ms: u64, lacked: i64, kept_per_s: i64 },
    /// It is too slow in any case.
    InVain,
}

/// One node outside the view, as its reports to the leader show it. In seqnos.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CatchingUp {
    applied: i64,
    applied_ms: u64,
    /// The beginning of the time for which its gain is measured: when, what it had applied, and the last seqno then.
    from: (u64, i64, i64),
    help: Help,
}

impl CatchingUp {
    /// From the first report. `last`: the last ordered seqno.
    fn new(now_ms: u64, applied: i64, last: i64) -> Self {
        Self { applied, applied_ms: now_ms, from: (now_ms, applied, last), help: Help::NotYet }
    }

    /// Takes its latest report. `is_current`: it lacks nearly nothing, and only waits for its place.
    fn update(&mut self, now_ms: u64, applied: i64, last: i64, is_current: bool) {
        let was_stuck = now_ms - self.applied_ms >= STUCK_MS;
        if applied > self.applied {
            (self.applied, self.applied_ms) = (applied, now_ms);
        }
        let (from_ms, from_applied, from_last) = self.from;
        let elapsed_ms = now_ms - from_ms;
        let lacks = last - self.applied;
        let advance = self.applied - from_applied;
        match &mut self.help {
            Help::InVain => {}
            _ if was_stuck => {
                self.help = Help::NotYet;
                self.from = (now_ms, self.applied, last);
            }
            Help::NotYet if is_current => self.from = (now_ms, self.applied, last),
            Help::NotYet if elapsed_ms < PATIENCE_MS => {}
            Help::NotYet => {
                let written = last - from_last;
                let gain = advance - written;
                let is_expected = share(gain, EXPECTED_MS, elapsed_ms) >= lacks;
                if !is_expected && lacks > LEAST_LACKED {
                    let kept_per_s = share(written, 1_000, elapsed_ms) / KEPT_PART;
                    self.help = Help::Given { may_lack: lacks, since_ms: now_ms, lacked: lacks, kept_per_s };
                }
                self.from = (now_ms, self.applied, last);
            }
            Help::Given { may_lack, since_ms, lacked, kept_per_s } if elapsed_ms >= STEP_MS => {
                let writers_part = (advance / 2).max(share(*kept_per_s, elapsed_ms, 1_000));
                *may_lack = (*may_lack - advance + writers_part).max(LEAST_LACKED);
                self.from = (now_ms, self.applied, last);
                if now_ms - *since_ms >= EXPECTED_MS {
                    if lacks > *lacked / 2 {
                        self.help = Help::InVain;
                    } else {
                        (*since_ms, *lacked) = (now_ms, lacks);
                    }
                }
            }
            Help::Given { .. } => {}
        }
    }

    /// Whether writes must wait for it now.
    fn must_be_waited_for(&self, last: i64) -> bool {
        matches!(self.help, Help::Given { may_lack, .. } if last - self.applied > may_lack)
    }
}

/// `count` in `of_ms`, as so much in `part_ms`.
fn share(count: i64, part_ms: u64, of_ms: u64) -> i64 {
    let product = i128::from(count) * i128::from(part_ms) / i128::from(of_ms.max(1));
    i64::try_from(product).unwrap_or(i64::MAX)
}

/// What a node's error log tells when the help for it changes.
fn change_text(before: Help, now: Help, last: i64, applied: i64) -> Option<String> {
    let lacks = last - applied;
    match (before, now) {
        (Help::NotYet, Help::Given { .. }) => Some(format!(
            "does not catch up: it lacks {lacks} seqnos, and would not be there in {} minutes. The writes of the cluster \
             wait for it at times, until it has: they get half of its speed",
            EXPECTED_MS / 60_000
        )),
        (Help::Given { .. }, Help::NotYet) => {
            Some(format!("has applied nothing for {} s: no write waits for it any more", STUCK_MS / 1_000))
        }
        (Help::Given { .. }, Help::InVain) => Some(format!(
            "still lacks {lacks} seqnos: it is too slow for this cluster, and no write waits for it any more"
        )),
        _ => None,
    }
}

impl<H: Host> Replica<H> {
    /// Whether the leader must hold writes back for a node that does not catch up.
    pub(super) fn must_wait_for_joiner(&mut self) -> bool {
        if self.leader_duties.is_none() || self.status.is_single_node {
            self.catching_up.clear();
            return false;
        }
        let now_ms = self.now_ms();
        let present = self.peers.iter().filter(|(_, peer)| peer.is_present(now_ms) && !peer.is_witness());
        let reports = present.filter_map(|(node, peer)| peer.status.as_ref().map(|(status, _)| (*node, status)));
        let outside = self.host.with_order(|order| {
            let outside = reports.filter(|(_, status)| !order.is_in_view(status.member_id));
            let outside = outside.map(|(node, status)| (node, (status.applied, status.wants_view)));
            (outside.collect::<BTreeMap<NodeId, _>>(), order.seqno)
        });
        let Some((outside, last)) = outside else { return false };
        self.catching_up.retain(|node, _| outside.contains_key(node));
        let mut must_wait = false;
        for (node, (applied, is_current)) in outside {
            let one = self.catching_up.entry(node).or_insert_with(|| CatchingUp::new(now_ms, applied, last));
            let before = one.help;
            one.update(now_ms, applied, last, is_current);
            must_wait |= one.must_be_waited_for(last);
            if let Some(text) = change_text(before, one.help, last, one.applied)
                && let Some(peer) = self.peers.get(&node)
            {
                let text = format!("{} ({}) {text}", peer.hello.name, peer.hello.address);
                self.host.log(Level::Note, &text);
            }
        }
        // As in `is_behind`: what this node applies may need a transaction that is held back.
        must_wait && !self.host.has_victim()
    }
}
