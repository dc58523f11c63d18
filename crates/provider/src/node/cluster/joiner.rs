//! The joiner's receiving thread: waits for log and tables, plans the recovery, and starts the ordering. The order of
//! steps, and what the replica does: `replica/joiner.rs`.

use std::sync::atomic::Ordering as Atomic;

use super::joiner_sst::SstError;
use super::{ClusterHandle, Command};
use crate::identity::{Gtid, Uuid};
use crate::node::{Node, OrderState, lock};
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Receiver};

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
        if is_connected {
            // The transfer may have replaced the binary log too.
            self.compare_binary_log_again();
        }
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

    fn compare_binary_log_again(&self) {
        self.logged_upto.store(0, Atomic::SeqCst);
        let Some(log) = self.log() else { return };
        let why = match self.compare_binary_log(&log, log.last()) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.note(&format!("the provider cannot find out what the binary log holds: {why}"));
    }

    /// The position of the tables: as before, or as the server says.
    pub(super) fn tables_at(&self, saved: Option<&SavedState>) -> Option<Gtid> {
        let before = lock(&self.order).as_ref().map(|OrderState { order, .. }| order.history_uuid);
        match before {
            Some(history_uuid) => Some(Gtid { history_uuid, seqno: self.commit_monitor.last_released() }),
            None => recovery::tables_at(self.setup.position, saved),
        }
    }
}

impl Node {
    /// The preferred donor (`wsrep_sst_donor`).
    pub(super) fn preferred_donor(&self) -> String {
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
