//! How a node gets what it needs to take part: a log from its leader, tables from a donor, a place in the view.
//!
//! ```text
//!   restarted   its log ──► what the leader has more ──► view(N) ─► apply N+1 … ─► view with it inside ─► synced
//!   joins       may its server prepare? ─► asks the server what a donor is told ─► Join ─► the leader says where the log
//!               begins, and asks a donor: log from there ‖ tables from the donor, at N ─► as above
//! ```
//!
//! Who gives them, and to whom: `donating`. What the node does meanwhile, and when they do not come: `awaiting`.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering as Atomic;

use super::awaiting::WithoutState;
use super::thread::GroupThread;
use super::{Command, Together};
use crate::group::NodeId;
use crate::group::descent::Kinship;
use crate::group::proposals::{Origin, Proposals};
use crate::group::raft::Action;
use crate::group::wire::{Begin, Frame};
use crate::identity::{Gtid, Uuid};
use crate::log::DiskLog;
use crate::node::{Node, Ordering, lock};
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{Level, Receiver, Refused};

/// A question to a leader is asked again after this long.
const ASK_AGAIN_MS: u64 = 2_000;

/// What is asked of a leader until it answers.
#[derive(Clone, Debug)]
pub(in crate::node) enum Wants {
    /// May the server prepare to be given the tables?
    ToPrepare,
    /// The log, and the tables: this is what a donor is told.
    ToJoin { request: Vec<u8> },
}

impl Node {
    /// Takes its place among others. On a receiving thread.
    pub(in crate::node) fn find_place(&self, receiver: Receiver, together: &Together) -> Result<(), Refused> {
        let saved = *lock(&self.saved);
        let mut tables = self.tables_at(saved.as_ref());
        let mut is_connected = false;
        let plan = loop {
            let contact = together.contact();
            let log = self.log().filter(|_| !contact.is_too_far_behind || is_connected);
            if let Some(log) = log {
                let history = Uuid(log.of_history());
                match recovery::plan(&log, contact.agreed, history, tables, saved.as_ref()) {
                    // A log that ends before the tables do has lost what the others may still have.
                    Ok(plan) if plan.is_certain && (plan.tables_at <= plan.end || is_connected) => {
                        self.inconsistency.begin_at(plan.tables_at);
                        self.inconsistency.learn(&plan.decisions);
                        match self.inconsistency.held_wrongly(plan.tables_at) {
                            None => break plan,
                            Some(seqno) if is_connected => {
                                let text =
                                    format!("most nodes could not apply what stands at {seqno}, and the donor had it");
                                return Err(self.ends_without_state(together, &WithoutState::Because(text)));
                            }
                            Some(seqno) => {
                                self.note(&format!(
                                    "most nodes could not apply what stands at {seqno}, and here it is"
                                ));
                            }
                        }
                    }
                    Ok(_) | Err(recovery::Error::Gap { .. } | recovery::Error::NoPosition { .. }) => {}
                    Err(error) if is_connected => {
                        return Err(self.ends_without_state(together, &WithoutState::Because(error.to_string())));
                    }
                    Err(error) => {
                        self.server.log(Level::Error, &error.to_string());
                        return Err(Refused);
                    }
                }
            }
            if is_connected {
                let text = "the log that came with the state does not reach back to it".to_owned();
                return Err(self.ends_without_state(together, &WithoutState::Because(text)));
            }
            let received = self.receive_state(together);
            let received = received.map_err(|without| self.ends_without_state(together, &without))?;
            tables = Some(received);
            is_connected = true;
        };
        let Plan { order, tables_at, end, go_on_from, earlier, remark, .. } = plan;
        if let Some(remark) = remark {
            self.note(&remark);
        }
        self.turns.begin_at(tables_at);
        {
            let mut ordering = lock(&self.order);
            let member = self.member();
            let ordering = ordering.insert(Ordering { order, is_alone: false });
            ordering.order.member = member;
        }
        self.settle_in(receiver, tables_at, end, Some(earlier), is_connected)?;
        together.is_settled.store(true, Atomic::SeqCst);
        together.ask(Command::GoOnFrom(go_on_from));
        Ok(())
    }

    /// Where the tables are: as they were before, or as the server says.
    fn tables_at(&self, saved: Option<&SavedState>) -> Option<Gtid> {
        let before = lock(&self.order).as_ref().map(|Ordering { order, .. }| order.history);
        match before {
            Some(history) => Some(Gtid { history, seqno: self.turns.released() }),
            None => recovery::tables_at(self.setup.position, saved),
        }
    }
}

impl GroupThread {
    /// The leader says where this node's log begins.
    pub(super) fn begin_behind(&mut self, begin: Begin, actions: &mut Vec<Action>) {
        let Begin { term, place, membership, addresses, upto, descent } = begin;
        // Of two groups that this node, which was of none, asked, the first that answered is the one.
        if self.saved.descent.kinship(&descent) != Kinship::Same {
            return;
        }
        // Said by a leader of before, perhaps.
        if self.leading.is_some() || !matches!(self.wants, Some(Wants::ToJoin { .. })) {
            return;
        }
        self.wants = None;
        // What came just before counts as safe behind there.
        self.settle(actions);
        let history = self.contact.history;
        // False: this node's log is as good as the others', and only its tables are not.
        let is_behind = self.raft.begin_behind(term, place, (place.index, membership), actions);
        if self.node.log().is_none() || is_behind && self.raft.last() == place {
            self.node.close_log();
            let settings = self.node.log_settings();
            match DiskLog::begin_behind(&self.node.setup.data_dir, settings, history.0, place.index) {
                Ok(log) => {
                    log.set_keeps_recent(true);
                    self.node.set_log(log);
                }
                Err(error) => {
                    self.node.fail(&format!("no log can be begun behind {}: {error}", place.index));
                    return;
                }
            }
            self.saved.voters = addresses.iter().cloned().collect::<BTreeMap<_, _>>();
            self.saved.membership_at = place;
            self.saved.committed = place.index;
            self.contact.agreed = place.index;
        }
        if is_behind && let Ok(origin) = Uuid::random() {
            // It has not seen what was agreed on in between, so it cannot say what came of what it proposed before.
            self.proposals = Proposals::new();
            self.payloads.clear();
            self.origin = Origin(origin.0);
            let (term, leader) = (self.raft.term(), self.raft.leader());
            self.leader_is(term, leader, actions);
        }
        for (_, address) in &addresses {
            self.links.dial(address);
        }
        self.be_of(descent, history);
        self.contact.is_too_far_behind = false;
        self.contact.joins_behind = Some(upto);
        self.save();
    }

    /// Asks for what it wants until somebody answers.
    pub(super) fn ask_again(&mut self, now_ms: u64) {
        let Some(wants) = self.wants.clone() else { return };
        if self.asked_ms != 0 && now_ms - self.asked_ms < ASK_AGAIN_MS {
            return;
        }
        self.asked_ms = now_ms.max(1);
        let frame = match wants {
            Wants::ToPrepare => Frame::WantsState,
            Wants::ToJoin { request } => Frame::Join { request, donor: self.node.wished_donor() },
        };
        let linked = self.peers.iter().filter(|(_, peer)| peer.away_since_ms.is_none()).map(|(node, _)| *node);
        let linked: Vec<NodeId> = linked.collect();
        // Who does not lead says who does, and is linked by then.
        let to = self.raft.leader().filter(|leader| linked.contains(leader)).map_or(linked, |leader| vec![leader]);
        to.into_iter().for_each(|node| {
            self.links.send(node, &frame);
        });
    }
}

impl Node {
    /// Whom the server wants its state from.
    fn wished_donor(&self) -> String {
        lock(&self.donor).clone()
    }

    /// Whether it goes on without a majority by itself: `pc.ignore_sb`.
    pub(super) fn ignores_majorities(&self) -> bool {
        lock(&self.options).ignores_majorities()
    }

    /// Where other nodes find this one.
    pub(super) fn group_address(&self) -> String {
        lock(&self.options).group_address(&self.setup.address)
    }

    /// Where their connections are taken.
    pub(super) fn listen_address(&self) -> String {
        lock(&self.options).listen_address()
    }
}
