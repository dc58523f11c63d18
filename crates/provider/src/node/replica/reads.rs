//! Linearizable reads: a reader must have applied what was committed when it asked (Raft thesis, 6.4).

use super::Replica;
use super::host::Host;
use crate::consensus::NodeId;
use crate::consensus::raft::Action;
use crate::consensus::wire::Frame;
use crate::log::Index;

/// Reads on their way.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Those that wait for a round of heartbeats: round, request id, and the asking node.
    pub pending: Vec<(u64, u64, Option<NodeId>)>,
    /// Own ones that wait until entries up to the index are ordered.
    pub ready: Vec<(Index, u64)>,
}

impl<H: Host> Replica<H> {
    /// A linearizable read, of this node or another one.
    pub(super) fn on_read_index(&mut self, request_id: u64, asking_node: Option<NodeId>, actions: &mut Vec<Action>) {
        if let Some(round) = self.raft.read_index(actions) {
            self.reads.pending.push((round, request_id, asking_node));
            self.run_actions(actions, None);
        } else if asking_node.is_none() {
            let leader = self.raft.leader();
            if !leader.is_some_and(|leader| self.host.send(leader, &Frame::ReadIndex { request_id })) {
                self.host.answer_read_index(request_id, None);
            }
        } else if let Some(from) = asking_node {
            self.host.send(from, &Frame::ReadIndexReady { request_id, index: Index(0) });
        }
    }

    /// A majority has answered the round.
    pub(super) fn on_read_index_ready(&mut self, round: u64, upto: Index) {
        let (ready, rest): (Vec<_>, Vec<_>) = self.reads.pending.drain(..).partition(|(of, ..)| *of <= round);
        self.reads.pending = rest;
        for (_, request_id, asking_node) in ready {
            match asking_node {
                None => self.reads.ready.push((upto, request_id)),
                Some(node) => {
                    self.host.send(node, &Frame::ReadIndexReady { request_id, index: upto });
                }
            }
        }
    }

    /// Answers the reads whose entries are ordered.
    pub(super) fn answer_ready_reads(&mut self) {
        let Some(taken) = self.ordered.index else { return };
        let seqno = self.host.with_order(|order| order.seqno).unwrap_or(-1);
        let host = &mut self.host;
        self.reads.ready.retain(|(upto, request_id)| {
            let waits = *upto > taken;
            if !waits {
                host.answer_read_index(*request_id, Some(seqno));
            }
            waits
        });
    }
}
