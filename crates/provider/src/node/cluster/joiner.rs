//! The receiving thread of a node that joins: carries out the steps of the supervisor (`node/supervisor.rs`), and starts the
//! ordering. What the replica does meanwhile: `replica/joiner.rs`.

use std::sync::atomic::Ordering as Atomic;

use super::joiner_sst::SstError;
use super::{ClusterHandle, Command};
use crate::identity::{Gtid, Uuid};
use crate::node::supervisor::{self, Compared, Comparing, Step, Supervisor};
use crate::node::{Node, OrderState, lock};
use crate::node_state::StateEvent;
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Receiver};

/// The comparison of log and tables.
struct Comparison {
    found: Compared,
    /// How to go on from the tables.
    plan: Option<Plan>,
}

impl Node {
    /// Joins the cluster, on a receiving thread: carries out the steps of `supervisor`, of which `first` is the next.
    pub(in crate::node) fn join_cluster(
        &self,
        receiver: Receiver,
        cluster: &ClusterHandle,
        mut supervisor: Supervisor,
        first: Step,
    ) -> Result<(), CallbackError> {
        let saved = *lock(&self.saved);
        let mut tables = self.tables_at(saved.as_ref());
        let mut step = Some(first);
        let (plan, is_connected) = loop {
            let has_log = self.has_log();
            let next = step.take().or_else(|| cluster.next_step(&mut supervisor, has_log));
            let Some(next) = next else {
                return Err(self.end_without_tables(cluster, &SstError::interrupted(supervisor.stage())));
            };
            let done = match next {
                Step::Compare(comparing) => {
                    let compared = self.compare(cluster, tables, saved.as_ref(), comparing)?;
                    supervisor.compared(&compared.found);
                    match (compared.found, compared.plan) {
                        (Compared::Fits, Some(plan)) => break (plan, comparing.has_received),
                        (Compared::Unusable(failure), _) => Err(SstError::Failed(failure)),
                        _ => Ok(()),
                    }
                }
                Step::AskToPrepare(history_uuid) => self.ask_to_prepare(cluster, history_uuid),
                Step::RequestSst => self.request_sst(cluster),
                Step::TablesReceived(position) => {
                    self.note(&format!("the received state is at {position}"));
                    self.shift(StateEvent::SstReceived);
                    tables = Some(position);
                    Ok(())
                }
                Step::LogReceived { history_uuid, resolved_upto } => {
                    // The tables match the vote results that the donor matches.
                    self.inconsistency.on_sst_received(resolved_upto);
                    *lock(&self.saved) = Some(SavedState::running(history_uuid, self.member_id()));
                    Ok(())
                }
                Step::Fail(failure) => Err(SstError::Failed(failure)),
                // Impossible: waits are over in `next_step`, and a node that has met others is not alone.
                Step::Wait | Step::RecoverAlone => Ok(()),
            };
            done.map_err(|error| self.end_without_tables(cluster, &error))?;
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
        self.misses_after(tables_at);
        {
            let mut order_state = lock(&self.order);
            let member = self.member_id();
            let order_state = order_state.insert(OrderState::new(order, false));
            order_state.order.member = member;
        }
        self.deliver_first_view(receiver, tables_at, end, Some(former_members), is_connected)?;
        cluster.is_caught_up.store(true, Atomic::SeqCst);
        cluster.send(Command::OrderFrom(order_from));
        Ok(())
    }

    /// Compares log and tables.
    fn compare(
        &self,
        cluster: &ClusterHandle,
        tables: Option<Gtid>,
        saved: Option<&SavedState>,
        Comparing { has_received, has_log }: Comparing,
    ) -> Result<Comparison, CallbackError> {
        let log = self.log().filter(|_| has_log);
        let plan = log.map(|log| {
            let history_uuid = Uuid(log.history_uuid());
            recovery::make_plan(&log, cluster.status().apply_bound, history_uuid, tables, saved)
        });
        let mut wrongly_applied = None;
        let judged = supervisor::judge(
            plan.as_ref(),
            |plan| {
                self.inconsistency.reset_to(plan.tables_at);
                self.inconsistency.add_results(&plan.vote_results);
                wrongly_applied = self.inconsistency.wrongly_applied(plan.tables_at);
                wrongly_applied
            },
            has_received,
        );
        let found = judged.map_err(|text| {
            self.server.log(Level::Error, &text);
            CallbackError
        })?;
        if let (Compared::NeedsSst, Some(seqno)) = (&found, wrongly_applied) {
            self.note(&format!(
                "inconsistency vote on seqno {seqno}: most nodes could not apply it, but this node has applied it"
            ));
        }
        Ok(Comparison { found, plan: plan.and_then(Result::ok) })
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
