//! What becomes of a place that some node could not apply: the leader hears what became of it elsewhere, and puts what most
//! say into the order.

use super::thread::{GroupThread, Present};
use crate::decision::{self, Decision, Stance};
use crate::entry;
use crate::group::wire::BATCH_LIMIT_BYTES;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::{Ordering, lock};

/// A round looks at so many entries for decisions, or some more.
const LOOK_LIMIT: u64 = 1_000;

impl GroupThread {
    /// As the leader. True: a decision is on its way into the order.
    pub(super) fn see_to_decisions(&mut self) -> bool {
        self.see_how_far_it_is();
        let own = self.present();
        let near = self.peers.iter().filter(|(_, peer)| peer.away_since_ms.is_none());
        let presents: Vec<&Present> = near
            .filter_map(|(_, peer)| peer.present.as_ref())
            .map(|(present, _)| present)
            .chain(std::iter::once(&own))
            .collect();
        let faults = presents.iter().filter_map(|present| present.fault);
        // One after the other: what comes behind it waits there.
        let open = faults.map(|fault| fault.seqno).filter(|seqno| self.node.inconsistency.decision(*seqno).is_none());
        let Some(seqno) = open.min() else { return false };
        let says = |life: Uuid| {
            let present = presents.iter().find(|present| present.life == life);
            present.map_or(Stance::Unknown, |present| stance(present, seqno))
        };
        let stances: Vec<Stance> = self.who_decides().into_iter().map(says).collect();
        let voters = self.saved.voters.len();
        let decision = match (stances.as_slice(), own.fault) {
            ([Stance::Fails(_)], Some(fault)) if voters == 1 => {
                if !self.node.inconsistency.is_own() {
                    // Of an earlier life, or of a node that has left: nobody can tell what its client was told.
                    self.node.inconsistency.refuse();
                    return false;
                }
                Some(Decision { error: fault.error, agreeing: 1 })
            }
            _ => decision::decide(&stances).filter(|_| stances.len() * 2 > voters),
        };
        let Some(decision) = decision else { return false };
        let holds = if decision.error == 0 { "it is applied" } else { "they go on without it" };
        let (agreeing, all) = (decision.agreeing, stances.len());
        self.node.note(&format!("what stands at {seqno} failed on a node; as {agreeing} of {all} say, {holds}"));
        self.propose(entry::encode_decision(seqno, decision), None)
    }

    /// The members of the view that are there, and voters that are not, or not yet, in it.
    fn who_decides(&self) -> Vec<Uuid> {
        let members: Vec<Uuid> = lock(&self.node.order)
            .as_ref()
            .map_or(Vec::new(), |Ordering { order, .. }| order.members().iter().map(|member| member.id).collect());
        let members = members.into_iter().filter(|life| self.is_here(*life));
        let voters = self.peers.iter().filter(|(node, peer)| {
            peer.away_since_ms.is_none() && !peer.leaves && self.saved.voters.contains_key(node)
        });
        let voters = voters.filter_map(|(_, peer)| peer.present.as_ref()).map(|(present, _)| present.life);
        let mut all: Vec<Uuid> = members.chain(voters).chain(std::iter::once(self.node.member())).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What was decided is heeded here, leader or not.
    pub(super) fn heed_decisions(&mut self) {
        if self.contact.is_alone {
            self.node.inconsistency.refuse();
        }
        self.node.see_what_it_holds();
    }

    /// A decision may stand behind what there is no room for before it is known.
    pub(super) fn look_ahead(&mut self, log: &DiskLog, from: Index) {
        if self.node.inconsistency.fault().is_none() {
            return;
        }
        let mut next = from.max(self.looked_to.next());
        let upto = Index(next.0 + LOOK_LIMIT).min(self.contact.agreed);
        while next <= upto {
            let Ok(entries) = log.entries(next, BATCH_LIMIT_BYTES) else { return };
            let Some((last, _)) = entries.last() else { return };
            next = last.next();
            let seen = entries.iter().filter(|(index, _)| *index <= self.contact.agreed);
            let decisions: Vec<_> = seen.filter_map(|(_, bytes)| entry::decision(bytes)).collect();
            self.node.inconsistency.learn(&decisions);
            self.looked_to = Index(next.0 - 1).min(self.contact.agreed);
        }
    }
}

fn stance(present: &Present, seqno: i64) -> Stance {
    match present.fault {
        Some(fault) if fault.seqno == seqno => Stance::Fails(fault.error),
        _ if present.applied >= seqno => Stance::Applied,
        _ => Stance::Unknown,
    }
}
