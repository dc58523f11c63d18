//! Startup: the first view, the recovery of the tables, and the view that opens the node to its clients.
//!
//! ```text
//!   connected(M) ─► view(N) ─► apply N+1 … M ─► view(M+1) ─► synced       after a crash
//!   connected(M) ─► view(M+1) ─► synced                                   else
//! ```
//!
//! view(N) takes no seqno. It contains the member ID from before the crash beside the new one, so that the server keeps
//! the streaming transactions of the old one; view(M+1), without it, makes the server roll them back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering as Atomic;
use std::time::Duration;

use super::cluster::{self, ClusterHandle, ClusterStatus, Command, StartMode};
use super::delivery::Delivery;
use super::supervisor::{Step, Supervisor};
use super::{Error, Node, OrderState, lock};
use crate::consensus::hard_state::HardState;
use crate::entry::{self, CommitCut, Entry, Stamp};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::node_state::StateEvent;
use crate::protocol::ProtocolRange;
use crate::recovery::Plan;
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Member, Receiver, View, ViewStatus};

/// How long a running server waits for a quorum of the cluster that it connects to.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

impl Node {
    /// Connects the node to the cluster that the server names. No callback runs before a thread receives.
    pub fn connect(
        self: &Arc<Self>,
        cluster_name: &str,
        address: &str,
        donor: &str,
        is_new: bool,
    ) -> Result<(), Error> {
        let Some(hosts) = address.strip_prefix("gcomm://") else {
            return Err(Error::Address(address.to_owned()));
        };
        let hosts = hosts.split('?').next().unwrap_or_default();
        let hosts: Vec<String> =
            hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect();
        if self.gate.state() == GateState::Failed {
            return Err(Error::Failed);
        }
        // The server keeps the wish for a new cluster, of its start or of a `gcomm://`, for all later connects.
        let is_first = !self.has_tried_to_connect.swap(true, Atomic::SeqCst);
        let is_new = is_new && (is_first || hosts.is_empty());
        let hard_state = HardState::read(&self.setup.data_dir)?;
        let others: Vec<String> = hard_state
            .iter()
            .flat_map(|hard_state| {
                hard_state
                    .voters
                    .iter()
                    .filter(|(node, _)| **node != hard_state.node)
                    .map(|(_, address)| address.clone())
            })
            .collect();
        if is_new && !others.is_empty() {
            return Err(Error::HasOtherVoters(others.join(", ")));
        }
        if self.log().is_none() && is_new {
            let history_uuid = if self.setup.position.is_undefined() {
                Uuid::random().map_err(Error::Random)?
            } else {
                self.setup.position.history_uuid
            };
            *lock(&self.saved) =
                Some(SavedState { stopped_at: 0, ..SavedState::running(history_uuid, self.member_id()) });
            self.open_log(history_uuid)?;
        }
        let mode = match hard_state {
            _ if self.log().is_none() && hosts.is_empty() => return Err(Error::NothingToJoin(address.to_owned())),
            _ if self.log().is_none() => StartMode::Join,
            // An older release left a single node's log, or the file was removed.
            None => match self.voters_in_log()? {
                Some(others) if !is_new => return Err(Error::HardStateMissing(others)),
                _ => StartMode::Bootstrap,
            },
            // Without voters, the node was about to join when it ended: it becomes a cluster only on request.
            Some(hard_state) if hard_state.voters.is_empty() && is_new => StartMode::Bootstrap,
            Some(hard_state) => StartMode::Restart(Box::new(hard_state)),
        };
        let new_member_id = Uuid::random().map_err(Error::Random)?;
        if !self.recv_queue.connect() {
            return Err(Error::Connected);
        }
        self.close_cluster();
        self.shift(StateEvent::Connected);
        let is_again = lock(&self.order).is_some();
        if is_again {
            // Request ids start from 1 again, and the old member ID may still be in the view.
            *lock(&self.member_id) = new_member_id;
        }
        self.inconsistency.reopen();
        donor.clone_into(&mut lock(&self.donor));
        let cluster = cluster::start(self, cluster_name, &hosts, mode).inspect_err(|_| {
            self.shift(StateEvent::Left);
            self.recv_queue.disconnect();
        })?;
        *lock(&self.cluster) = Some(Arc::clone(&cluster));
        // A running server does not abort a connect: its next SET GLOBAL wsrep_cluster_address would wait for ever.
        let is_in_reach = |status: &ClusterStatus| status.has_quorum || status.is_single_node || status.needs_snapshot;
        if is_again && cluster.wait_for(Some(CONNECT_TIMEOUT), is_in_reach).is_none() {
            self.shift(StateEvent::Left);
            self.recv_queue.disconnect();
            self.inconsistency.close();
            self.close_cluster();
            return Err(Error::NoQuorum(address.to_owned()));
        }
        Ok(())
    }

    /// The voters in the log, if there are several. If their entry is purged, the view decides: a view of several
    /// members needs several voters.
    fn voters_in_log(&self) -> Result<Option<String>, Error> {
        let Some(log) = self.log() else { return Ok(None) };
        let (mut voters, mut members) = (None, None);
        for record in log.read(log.first())? {
            let (index, bytes) = record?;
            let decoded = entry::decode(&bytes);
            let (_, entry) = decoded.map_err(|error| crate::recovery::Error::Entry { index: index.0, error })?;
            match entry {
                Entry::Membership(latest) => {
                    // A voter with several votes stands several times.
                    let addresses: BTreeMap<_, _> =
                        latest.into_iter().map(|voter| (voter.node, voter.address)).collect();
                    voters = Some(addresses.into_values().collect::<Vec<_>>());
                }
                Entry::View { members: latest, .. } | Entry::CommitCut(CommitCut { members: latest, .. }) => {
                    members = Some(latest.into_iter().map(|member| member.name).collect());
                }
                Entry::WriteSet { .. } | Entry::NoOp | Entry::VoteResult { .. } => {}
            }
        }
        Ok(voters.or(members).filter(|several| several.len() > 1).map(|several| several.join(", ")))
    }

    /// Starts the node, on a receiving thread. False: it failed.
    pub(super) fn start_up(&self, receiver: Receiver) -> bool {
        let Some(cluster) = self.cluster() else { return false };
        let mut supervisor = Supervisor::default();
        // None: the node was told to leave before it met another node.
        let has_log = self.has_log();
        let Some(step) = cluster.next_step(&mut supervisor, has_log) else {
            return self.gate.state() != GateState::Failed;
        };
        self.shift(StateEvent::QuorumFound);
        match step {
            Step::RecoverAlone => self.start_alone(receiver, &cluster),
            step => self.join_cluster(receiver, &cluster, supervisor, step).is_ok() || cluster.is_leaving(),
        }
    }

    /// Whether there is a log. Nobody may hold it during a wait: a joiner replaces it.
    pub(super) fn has_log(&self) -> bool {
        self.log().is_some()
    }

    /// The log is all there is. False: the node failed.
    fn start_alone(&self, receiver: Receiver, cluster: &ClusterHandle) -> bool {
        let plan = lock(&self.plan).take();
        let ready = match plan {
            Some(plan) => self.recover(receiver, plan),
            // A reconnect: nothing has changed, but open streaming transactions end with the old member ID.
            None => self.renew_member_id().map(|()| false),
        };
        let is_up = ready.and_then(|is_connected| self.deliver_own_view(receiver, is_connected)).is_ok();
        cluster.send(Command::Recheck);
        is_up
    }

    fn renew_member_id(&self) -> Result<(), CallbackError> {
        let member = Uuid::random().map_err(|error| {
            self.server.log(Level::Error, &format!("no random numbers for a UUID: {error}"));
            CallbackError
        })?;
        *lock(&self.member_id) = member;
        Ok(())
    }

    /// Applies the log up to its end. Returns whether the server was told of the cluster.
    fn recover(&self, receiver: Receiver, plan: Plan) -> Result<bool, CallbackError> {
        let (behind, end) = (plan.behind(), plan.end.max(plan.tables_at));
        let Plan { mut order, tables_at, order_from, former_members, vote_results, .. } = plan;
        self.inconsistency.reset_to(tables_at);
        self.inconsistency.add_results(&vote_results);
        if tables_at > order.seqno {
            order.skip_to(tables_at);
        }
        self.commit_monitor.reset_to(tables_at);
        *lock(&self.order) = Some(OrderState::new(order, true));
        let was_stopped = lock(&self.saved).is_some_and(|saved| saved.stopped_at == end && end == tables_at);
        self.deliver_first_view(receiver, tables_at, end, (!was_stopped).then_some(former_members), false)?;
        if behind > 0 {
            self.replay_log(receiver, order_from)?;
            self.note(&format!("{behind} seqnos were applied from the log"));
        }
        Ok(!was_stopped)
    }

    /// Tells the server the position of its tables. `former_members`: members, this node among them, that may have left
    /// streaming transactions open there; None: not needed, since a view follows that says the same.
    pub(super) fn deliver_first_view(
        &self,
        receiver: Receiver,
        tables_at: i64,
        end: i64,
        former_members: Option<Vec<Member>>,
        is_connected: bool,
    ) -> Result<(), CallbackError> {
        let (history_uuid, number) = lock(&self.order)
            .as_ref()
            .map(|order| (order.order.history_uuid, order.order.view_number))
            .ok_or(CallbackError)?;
        // After a crash before the next view, the open transactions still belong to the former member ID.
        let former_member_id =
            lock(&self.saved).filter(|saved| saved.history_uuid == history_uuid).map(|saved| saved.member);
        let running = SavedState::running(
            history_uuid,
            former_member_id.filter(|_| former_members.is_some()).unwrap_or(self.member_id()),
        );
        let failed_at = lock(&self.saved).map_or(-1, |saved| saved.failed_at);
        self.save(SavedState { begins_at: tables_at, failed_at, ..running })?;
        let Some(former_members) = former_members else { return Ok(()) };
        self.note(&format!("the tables are applied up to {history_uuid}:{tables_at}, the log ends at seqno {end}"));
        if !is_connected {
            self.report_connected(end)?;
        }
        let mut members = vec![self.own_member()];
        members.extend(former_members);
        members.push(self.placeholder_member()?);
        let state = Gtid { history_uuid, seqno: tables_at };
        self.deliver_to_server(receiver, &View { state, number, status: ViewStatus::Primary, own_index: 0, members })?;
        self.save(SavedState { failed_at, ..running })
    }

    /// Applies the log from `from` on.
    fn replay_log(&self, receiver: Receiver, from: Index) -> Result<(), CallbackError> {
        let log = self.log().ok_or(CallbackError)?;
        let log_error = |error: &dyn std::fmt::Display| {
            self.server.log(Level::Error, &format!("the log cannot be read: {error}"));
            CallbackError
        };
        for record in log.read(from).map_err(|error| log_error(&error))? {
            let (index, bytes) = record.map_err(|error| log_error(&error))?;
            let (stamp, entry) = entry::decode(&bytes).map_err(|error| log_error(&error))?;
            if let Some(work) = self.order_next(index, stamp, entry)? {
                self.deliver(receiver, Delivery { is_replay: true, ..work })?;
            }
        }
        Ok(())
    }

    /// Delivers the view with this node alone, and opens the node to clients.
    fn deliver_own_view(&self, receiver: Receiver, is_connected: bool) -> Result<(), CallbackError> {
        let log = self.log().ok_or(CallbackError)?;
        let members = vec![self.own_member()];
        let (history_uuid, seqno, number, appended) = {
            let mut order_state = self.order_of_start();
            let OrderState { order, .. } = order_state.as_mut().ok_or(CallbackError)?;
            let (seqno, number) = (order.seqno + 1, order.view_number + 1);
            let mut bytes = entry::encode_view(number, &members);
            // There is no other node: this one's newest protocol version is in force from here on.
            let protocol = order.protocol.max(ProtocolRange::SPOKEN.newest);
            entry::set_stamp(&mut bytes, Stamp { seqno, term: self.term(), protocol });
            let appended = log.append(&[&bytes]);
            order.member = members[0].id;
            if appended.is_ok() {
                order.protocol = protocol;
                order.set_view(seqno, number, &members);
                self.commit_monitor.set_last_ordered(seqno);
            }
            (order.history_uuid, seqno, number, appended)
        };
        let index = appended.map_err(|error| {
            self.server.log(Level::Error, &format!("the view cannot be appended to the log: {error}"));
            CallbackError
        })?;
        self.flush_log(index).map_err(|_| CallbackError)?;
        if !is_connected {
            self.report_connected(seqno - 1)?;
        }
        let state = Gtid { history_uuid, seqno };
        self.commit_monitor.enter_own(seqno).map_err(|_| CallbackError)?;
        self.log_view(&members, 0, number, state);
        self.deliver_to_server(receiver, &View { state, number, status: ViewStatus::Primary, own_index: 0, members })?;
        self.commit_monitor.leave(seqno);
        self.commit_monitor.release(seqno);
        self.save(SavedState::running(history_uuid, self.member_id()))?;
        if self.take_part() { self.server.synced() } else { Ok(()) }
    }

    fn report_connected(&self, seqno: i64) -> Result<(), CallbackError> {
        self.report_connected_at(Gtid { history_uuid: self.last_committed().history_uuid, seqno })
    }

    /// Tells the server that it is connected to a cluster at `state`.
    pub(super) fn report_connected_at(&self, state: Gtid) -> Result<(), CallbackError> {
        self.report_connected_as(self.member_id(), state)
    }

    /// The same, with the member ID that the server knows from now on.
    pub(super) fn report_connected_as(&self, member_id: Uuid, state: Gtid) -> Result<(), CallbackError> {
        let members = vec![Member { id: member_id, ..self.own_member() }];
        *lock(&self.server_member_id) = member_id;
        self.server.connected(&View { state, number: 0, status: ViewStatus::Primary, own_index: 0, members })
    }

    pub(super) fn deliver_to_server(&self, receiver: Receiver, view: &View) -> Result<(), CallbackError> {
        self.counters.received.add(1);
        self.server.view(receiver, view)
    }
}
