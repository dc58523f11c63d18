//! Checks the lineage of nodes with the same history UUID, and reports a mismatch. The module `lineage` has the
//! reasons.

use std::time::Instant;

use super::log_limiter::one_line;
use super::stream::Stage;
use super::{Event, Links};
use crate::consensus::lineage::{Lineage, LineageRelation};
use crate::consensus::wire::{Hello, Signal};
use crate::identity::Uuid;

/// The ways to bootstrap a cluster from one node's data.
const BOOTSTRAP_CAUSES: &str = "pc.bootstrap, pc.ignore_sb, or hortator.raft.log removed";

/// The message on a lineage mismatch; the same on both sides.
fn lineage_message(relation: LineageRelation, own: &Hello, other: &Hello) -> String {
    let (first, second) = match relation {
        LineageRelation::Ancestor => (own, other),
        _ => (other, own),
    };
    let [first_name, first_address, second_name, second_address] =
        [&first.name, &first.address, &second.name, &second.address].map(|text| one_line(text));
    let [first_generation, second_generation] = [first, second].map(|hello| hello.lineage.generation());
    match relation {
        LineageRelation::Diverged => {
            let mut both = [
                format!("{first_name} at {first_address} (generation {first_generation})"),
                format!("{second_name} at {second_address} (generation {second_generation})"),
            ];
            both.sort();
            let [one, other] = both;
            format!(
                "split-brain: {one} and {other} continue without each other, after a bootstrap ({BOOTSTRAP_CAUSES}). \
                 Each side may have confirmed transactions that the other lacks; nothing is merged. Decide which \
                 side to discard: stop its nodes, move the files hortator* out of their data folders, and start \
                 them: they join the other side, and receive its data"
            )
        }
        _ => format!(
            "{first_name} at {first_address} belongs to a cluster that was bootstrapped ({BOOTSTRAP_CAUSES}) without \
             {second_name} at {second_address}: generation {first_generation}, a descendant of {second_generation}"
        ),
    }
}

impl Links {
    /// Closes the connection if the node's lineage differs from this node's. True: it did.
    pub(super) fn reject_other_lineage(&mut self, id: u64, other: &Hello) -> bool {
        let relation = self.own.lineage.relation_to(&other.lineage);
        if relation == LineageRelation::Same {
            return false;
        }
        let text = lineage_message(relation, &self.own, other);
        // The text names both nodes; which side dialled does not matter.
        let is_news = self.log_limiter.refused_event("", &other.address, &text, Instant::now()).is_some();
        let event = Event::LineageMismatch { relation, text: text.clone(), is_news, other: Box::new(other.clone()) };
        self.pending_events.push(event);
        self.reject_without_log(id, &text);
        true
    }

    /// Sets the history UUID and the lineage of this node. Nodes that may no longer link with it are disconnected; the
    /// others are told.
    pub fn set_lineage(&mut self, history_uuid: Uuid, lineage: Lineage) {
        if (self.own.history_uuid, self.own.lineage) == (history_uuid, lineage) {
            return;
        }
        (self.own.history_uuid, self.own.lineage) = (history_uuid, lineage);
        // Nodes that were dialled may hold the old values.
        let linked_or_greeted: Vec<u64> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.peer().is_some() || stream.has_sent_hello())
            .map(|(id, _)| *id)
            .collect();
        for id in linked_or_greeted {
            // Also to nodes that are disconnected: they compare the lineages themselves.
            self.send_signal(id, &Signal::Lineage { history_uuid, lineage });
            if let Some(Stage::Linked(peer)) = self.streams.get(&id).map(|stream| &stream.stage) {
                let peer = peer.clone();
                self.recheck_peer(id, &peer);
            }
        }
    }

    /// Disconnects a linked node if its history UUID or lineage no longer fits.
    pub(super) fn recheck_peer(&mut self, id: u64, peer: &Hello) {
        match super::handshake::history_mismatch(&self.own, peer) {
            Some(text) => self.reject(id, &text),
            None => {
                self.reject_other_lineage(id, peer);
            }
        }
    }
}
