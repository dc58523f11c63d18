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

use super::driver::RaftDriver;
use super::joiner_sst::SstError;
use super::{ClusterHandle, Command};
use crate::consensus::NodeId;
use crate::consensus::lineage::LineageRelation;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::Action;
use crate::consensus::wire::{Frame, SnapshotMeta};
use crate::identity::{Gtid, Uuid};
use crate::log::DiskLog;
use crate::node::{Node, OrderState, lock};
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Receiver};

/// A question to a leader is asked again after this long.
const RESEND_INTERVAL_MS: u64 = 2_000;

/// What is asked of a leader until it answers.
#[derive(Clone, Debug)]
pub(in crate::node) enum JoinRequest {
    /// May the server prepare to be given the tables?
    PrepareSst,
    /// The log, and the tables: this is what a donor is told.
    Join { request: Vec<u8> },
}

impl Node {
    /// Takes its place among others. On a receiving thread.
    pub(in crate::node) fn join_cluster(
        &self,
        receiver: Receiver,
        cluster: &ClusterHandle,
    ) -> Result<(), CallbackError> {
        let saved = *lock(&self.saved);
        let mut tables = self.tables_at(saved.as_ref());
        let mut is_connected = false;
        let plan = loop {
            let status = cluster.status();
            let log = self.log().filter(|_| !status.needs_snapshot || is_connected);
            if let Some(log) = log {
                let history_uuid = Uuid(log.history_uuid());
                match recovery::make_plan(&log, status.apply_bound, history_uuid, tables, saved.as_ref()) {
                    // A log that ends before the tables do has lost what the others may still have.
                    Ok(plan) if plan.has_all_verdicts && (plan.tables_at <= plan.end || is_connected) => {
                        self.inconsistency.reset_to(plan.tables_at);
                        self.inconsistency.add_results(&plan.vote_results);
                        match self.inconsistency.wrongly_applied(plan.tables_at) {
                            None => break plan,
                            Some(seqno) if is_connected => {
                                let text =
                                    format!("most nodes could not apply what stands at {seqno}, and the donor had it");
                                return Err(self.end_without_tables(cluster, &SstError::Failed(text)));
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
                        return Err(self.end_without_tables(cluster, &SstError::Failed(error.to_string())));
                    }
                    Err(error) => {
                        self.server.log(Level::Error, &error.to_string());
                        return Err(CallbackError);
                    }
                }
            }
            if is_connected {
                let text = "the log that came with the state does not reach back to it".to_owned();
                return Err(self.end_without_tables(cluster, &SstError::Failed(text)));
            }
            let received = self.receive_state(cluster);
            let received = received.map_err(|without| self.end_without_tables(cluster, &without))?;
            tables = Some(received);
            is_connected = true;
        };
        let Plan { order, tables_at, end, order_from, former_members, remark, .. } = plan;
        if let Some(remark) = remark {
            self.note(&remark);
        }
        self.commit_monitor.reset_to(tables_at);
        {
            let mut order_state = lock(&self.order);
            let member = self.member_id();
            let order_state = order_state.insert(OrderState { order, is_single_node: false });
            order_state.order.member = member;
        }
        self.deliver_first_view(receiver, tables_at, end, Some(former_members), is_connected)?;
        cluster.is_caught_up.store(true, Atomic::SeqCst);
        cluster.send(Command::OrderFrom(order_from));
        Ok(())
    }

    /// Where the tables are: as they were before, or as the server says.
    fn tables_at(&self, saved: Option<&SavedState>) -> Option<Gtid> {
        let before = lock(&self.order).as_ref().map(|OrderState { order, .. }| order.history_uuid);
        match before {
            Some(history_uuid) => Some(Gtid { history_uuid, seqno: self.commit_monitor.last_released() }),
            None => recovery::tables_at(self.setup.position, saved),
        }
    }
}

impl RaftDriver {
    /// The leader says where this node's log begins.
    pub(super) fn on_install_snapshot(&mut self, begin: SnapshotMeta, actions: &mut Vec<Action>) {
        let SnapshotMeta { term, log_id: place, membership, addresses, upto, lineage } = begin;
        // Of two groups that this node, which was of none, asked, the first that answered is the one.
        if self.hard_state.lineage.relation_to(&lineage) != LineageRelation::Same {
            return;
        }
        // Said by a leader of before, perhaps.
        if self.leader_duties.is_some() || !matches!(self.join_request, Some(JoinRequest::Join { .. })) {
            return;
        }
        self.join_request = None;
        // What came just before counts as safe behind there.
        self.run_actions_and_sync(actions);
        let history_uuid = self.status.history_uuid;
        // False: this node's log is as good as the others', and only its tables are not.
        let is_behind = self.raft.install_snapshot(term, place, (place.index, membership), actions);
        if self.node.log().is_none() || is_behind && self.raft.last() == place {
            self.node.close_log();
            let settings = self.node.log_settings();
            match DiskLog::install_snapshot(&self.node.setup.data_dir, settings, history_uuid.0, place.index) {
                Ok(log) => {
                    log.set_keeps_recent(true);
                    self.node.set_log(log);
                }
                Err(error) => {
                    self.node.fail(&format!("no log can be begun behind {}: {error}", place.index));
                    return;
                }
            }
            self.hard_state.voters = addresses.iter().cloned().collect::<BTreeMap<_, _>>();
            self.hard_state.membership_log_id = place;
            self.hard_state.committed = place.index;
            self.status.apply_bound = place.index;
        }
        if is_behind && let Ok(session) = Uuid::random() {
            // It has not seen what was agreed on in between, so it cannot say what came of what it proposed before.
            self.proposals = Proposals::new();
            self.payloads.clear();
            self.session = SessionId(session.0);
            let (term, leader) = (self.raft.term(), self.raft.leader());
            self.on_leader_changed(term, leader, actions);
        }
        for (_, address) in &addresses {
            self.links.dial(address);
        }
        self.adopt_lineage(lineage, history_uuid);
        self.status.needs_snapshot = false;
        self.status.snapshot_upto = Some(upto);
        self.save_hard_state();
    }

    /// Asks for what it wants until somebody answers.
    pub(super) fn resend_join_request(&mut self, now_ms: u64) {
        let Some(join_request) = self.join_request.clone() else { return };
        if self.requested_ms != 0 && now_ms - self.requested_ms < RESEND_INTERVAL_MS {
            return;
        }
        self.requested_ms = now_ms.max(1);
        let frame = match join_request {
            JoinRequest::PrepareSst => Frame::PrepareSstRequest,
            JoinRequest::Join { request } => Frame::Join { request, donor: self.node.preferred_donor() },
        };
        let linked = self.peers.iter().filter(|(_, peer)| peer.unlinked_since_ms.is_none()).map(|(node, _)| *node);
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
    fn preferred_donor(&self) -> String {
        lock(&self.donor).clone()
    }

    /// Whether it goes on without a majority by itself: `pc.ignore_sb`.
    pub(super) fn ignores_quorum(&self) -> bool {
        lock(&self.options).ignores_majorities()
    }

    /// Where other nodes find this one.
    pub(super) fn group_address(&self) -> String {
        lock(&self.options).group_address(&self.setup.node_address)
    }

    /// Where their connections are taken.
    pub(super) fn listen_address(&self) -> String {
        lock(&self.options).listen_address()
    }
}
