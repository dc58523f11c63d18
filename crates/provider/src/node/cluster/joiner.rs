//! The joiner: gets a log from the leader, tables from a donor, and a place in the view.
//!
//! ```text
//!   restarted   own log ──► missing entries from the leader ──► view(N) ─► apply N+1 … ─► view with the node ─► synced
//!   joins       may the server prepare? ─► SST request from the server ─► Join ─► snapshot point from the leader, which
//!               also chooses a donor: log from there ‖ SST from the donor, at N ─► as above
//! ```
//!
//! The donor's side: `donor`. The SST on the joiner, and its failures: `joiner_sst`.

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

/// Interval of repeated requests to the leader.
const RESEND_INTERVAL_MS: u64 = 2_000;

/// A request to the leader.
#[derive(Clone, Debug)]
pub(in crate::node) enum JoinRequest {
    /// May the server prepare an SST?
    PrepareSst,
    /// The log and the tables, with the server's SST request.
    Join { request: Vec<u8> },
}

impl Node {
    /// Joins the cluster, on a receiving thread.
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
                    // A log that ends before the tables has lost entries that the others may have.
                    Ok(plan) if plan.has_all_verdicts && (plan.tables_at <= plan.end || is_connected) => {
                        self.inconsistency.reset_to(plan.tables_at);
                        self.inconsistency.add_results(&plan.vote_results);
                        match self.inconsistency.wrongly_applied(plan.tables_at) {
                            None => break plan,
                            Some(seqno) if is_connected => {
                                let text = format!(
                                    "inconsistency vote on seqno {seqno}: most nodes could not apply it, but \
                                             the donor has applied it"
                                );
                                return Err(self.end_without_tables(cluster, &SstError::Failed(text)));
                            }
                            Some(seqno) => {
                                self.note(&format!(
                                    "inconsistency vote on seqno {seqno}: most nodes could not apply it, but this \
                                     node has applied it"
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
                let text = "the log of the joiner begins after the state of the SST".to_owned();
                return Err(self.end_without_tables(cluster, &SstError::Failed(text)));
            }
            let received = self.receive_state(cluster);
            let received = received.map_err(|error| self.end_without_tables(cluster, &error))?;
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

    /// The position of the tables: as before, or as the server says.
    fn tables_at(&self, saved: Option<&SavedState>) -> Option<Gtid> {
        let before = lock(&self.order).as_ref().map(|OrderState { order, .. }| order.history_uuid);
        match before {
            Some(history_uuid) => Some(Gtid { history_uuid, seqno: self.commit_monitor.last_released() }),
            None => recovery::tables_at(self.setup.position, saved),
        }
    }
}

impl RaftDriver {
    /// The leader sends the start of this node's log.
    pub(super) fn on_install_snapshot(&mut self, snapshot: SnapshotMeta, actions: &mut Vec<Action>) {
        let SnapshotMeta { term, log_id, membership, addresses, upto, lineage } = snapshot;
        // A node without a cluster may have asked two clusters: the first reply counts.
        if self.hard_state.lineage.relation_to(&lineage) != LineageRelation::Same {
            return;
        }
        // The reply may come from a former leader.
        if self.leader_duties.is_some() || !matches!(self.join_request, Some(JoinRequest::Join { .. })) {
            return;
        }
        self.join_request = None;
        if self.is_syncing {
            let synced = self.relay.wait_for_synced();
            self.on_synced(synced);
        }
        // The entries just received count as durable after the snapshot.
        self.run_actions_and_sync(actions);
        let history_uuid = self.status.history_uuid;
        // False: the log is complete, only the tables are not.
        let is_installed = self.raft.install_snapshot(term, log_id, (log_id.index, membership), actions);
        if self.node.log().is_none() || is_installed && self.raft.last() == log_id {
            self.node.close_log();
            let settings = self.node.log_settings();
            match DiskLog::install_snapshot(&self.node.setup.data_dir, settings, history_uuid.0, log_id.index) {
                Ok(log) => {
                    log.set_keeps_recent(true);
                    self.node.set_log(log);
                }
                Err(error) => {
                    self.node.fail(&format!("cannot create a log after index {}: {error}", log_id.index));
                    return;
                }
            }
            self.hard_state.voters = addresses.iter().cloned().collect::<BTreeMap<_, _>>();
            self.hard_state.membership_log_id = log_id;
            self.hard_state.snapshot_log_id = log_id;
            self.hard_state.committed = log_id.index;
            self.status.apply_bound = log_id.index;
        }
        if is_installed && let Ok(session) = Uuid::random() {
            // The node has not seen the entries in between, so the outcome of its earlier proposals is unknown.
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

    /// Repeats the request until there is a reply.
    pub(super) fn resend_join_request(&mut self, now_ms: u64) {
        let Some(join_request) = self.join_request.clone() else { return };
        // Within the first millisecond of the clock, the time of the request is ahead of it.
        if self.requested_ms != 0 && now_ms.saturating_sub(self.requested_ms) < RESEND_INTERVAL_MS {
            return;
        }
        self.requested_ms = now_ms.max(1);
        let frame = match join_request {
            JoinRequest::PrepareSst => Frame::PrepareSstRequest,
            JoinRequest::Join { request } => Frame::Join { request, donor: self.node.preferred_donor() },
        };
        let linked = self.peers.iter().filter(|(_, peer)| peer.unlinked_since_ms.is_none()).map(|(node, _)| *node);
        let linked: Vec<NodeId> = linked.collect();
        // A follower replies with the leader's address, which is linked then.
        let to = self.raft.leader().filter(|leader| linked.contains(leader)).map_or(linked, |leader| vec![leader]);
        to.into_iter().for_each(|node| {
            self.links.send(node, &frame);
        });
    }
}

impl Node {
    /// The preferred donor (`wsrep_sst_donor`).
    fn preferred_donor(&self) -> String {
        lock(&self.donor).clone()
    }

    /// Whether the node continues without a majority: `pc.ignore_sb`.
    pub(super) fn ignores_quorum(&self) -> bool {
        lock(&self.options).ignores_quorum()
    }

    /// The address for other nodes.
    pub(super) fn node_address(&self) -> String {
        lock(&self.options).node_address(&self.setup.node_address)
    }

    /// The address to listen on.
    pub(super) fn listen_address(&self) -> String {
        lock(&self.options).listen_address()
    }
}
