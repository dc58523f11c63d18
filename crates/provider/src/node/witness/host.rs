//! The host of a witness's replica: a node without tables, clients and server.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{LogSink, WitnessOrder};
use crate::consensus::lineage::Lineage;
use crate::consensus::links::Security;
use crate::consensus::raft::Term;
use crate::consensus::wire::DonationStatus;
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{self, DiskLog, Index};
use crate::node::cluster::{Command, ProcessHost, ProcessIo};
use crate::node::replica::{FlowEvent, LocalNode, OrderedEntry, SingleNodeEnd};
use crate::node::{TotalOrder, lock};
use crate::server::{CallbackError, Level, Member};
use crate::vote_result::{ApplyError, VoteResult};

/// What the driver and the caller of a witness share.
pub(super) struct Shared {
    pub name: String,
    pub folder: PathBuf,
    pub sink: Arc<dyn LogSink>,
    /// What other nodes must prove.
    pub security: Mutex<Arc<Security>>,
    pub has_failed: AtomicBool,
}

impl Shared {
    /// Logs why the witness cannot continue. The first reason counts.
    pub fn fail(&self, text: &str) {
        if !self.has_failed.swap(true, Ordering::SeqCst) {
            self.sink.log(Level::Error, &format!("{text}. The witness ends"));
        }
    }
}

/// What the replica of a witness uses.
pub(super) struct WitnessHost {
    shared: Arc<Shared>,
    log: Option<Arc<DiskLog>>,
    log_settings: log::Settings,
    order: WitnessOrder,
    io: ProcessIo<Self>,
}

impl WitnessHost {
    pub fn new(shared: Arc<Shared>, log: Option<DiskLog>, log_settings: log::Settings, io: ProcessIo<Self>) -> Self {
        Self { shared, log: log.map(Arc::new), log_settings, order: WitnessOrder::default(), io }
    }
}

impl ProcessHost for WitnessHost {
    fn io(&self) -> &ProcessIo<Self> {
        &self.io
    }

    fn io_mut(&mut self) -> &mut ProcessIo<Self> {
        &mut self.io
    }

    fn disk_log(&self) -> Option<Arc<DiskLog>> {
        self.log.clone()
    }

    fn close_log(&mut self) {
        self.log = None;
    }

    fn set_log(&mut self, log: DiskLog) {
        (self.log, self.order) = (Some(Arc::new(log)), WitnessOrder::default());
    }

    fn log_settings(&self) -> log::Settings {
        self.log_settings
    }

    fn data_dir(&self) -> &Path {
        &self.shared.folder
    }

    fn security(&self) -> Arc<Security> {
        Arc::clone(&lock(&self.shared.security))
    }
}

impl LocalNode for WitnessHost {
    fn name(&self) -> String {
        self.shared.name.clone()
    }

    fn log(&self, level: Level, text: &str) {
        self.shared.sink.log(level, text);
    }

    fn log_transfer_request(&self, joiner: &str, _: &str, donor: &str) {
        self.note(&format!("{joiner} requests an SST: its donor is {donor}"));
    }

    fn fail(&mut self, text: &str) {
        self.shared.fail(text);
        self.io.cluster.send(Command::Stop);
    }

    fn end_start(&mut self) {}

    /// Open: an old cluster that has a leader continues with it, as if it had clients.
    fn gate_state(&self) -> GateState {
        GateState::Open
    }

    /// None: a witness is a member of no view.
    fn member_id(&self) -> Uuid {
        Uuid::UNDEFINED
    }

    fn own_member(&self) -> Member {
        Member { id: Uuid::UNDEFINED, name: self.name(), incoming: String::new() }
    }

    fn history_uuid(&self) -> Uuid {
        self.log.as_ref().map_or(Uuid::UNDEFINED, |log| Uuid(log.history_uuid()))
    }

    fn has_no_tables(&self) -> bool {
        true
    }

    fn tables_position(&self) -> Option<Gtid> {
        None
    }

    fn with_order<T>(&self, read: impl FnOnce(&TotalOrder) -> T) -> Option<T> {
        self.order.order().map(read)
    }

    /// What all members have applied: the log need not keep it for any of them.
    fn last_released(&self) -> i64 {
        self.order.applied_by_all()
    }

    fn is_caught_up(&self) -> bool {
        false
    }

    fn can_order(&self) -> bool {
        true
    }

    fn order_committed(
        &mut self,
        index: Index,
        bytes: &[u8],
        _: &[Uuid],
    ) -> Result<Option<OrderedEntry>, CallbackError> {
        let history_uuid = self.history_uuid();
        self.order.order_entry(history_uuid, index, bytes).map(Some).map_err(|text| {
            self.fail(&text);
            CallbackError
        })
    }

    fn queued(&self) -> (u64, u64) {
        (0, 1)
    }

    fn resume_limit(&self) -> u64 {
        0
    }

    fn is_desynced(&self) -> bool {
        true
    }

    fn set_leader_term(&mut self, _: Term) {}

    fn enter_single_node(&mut self, _: Option<Index>, _: bool) -> bool {
        false
    }

    fn leave_single_node(&mut self) -> Option<SingleNodeEnd> {
        None
    }

    fn lose_quorum(&mut self) -> Option<Uuid> {
        None
    }

    fn ignores_quorum(&self) -> bool {
        false
    }

    fn wanted_weight(&self) -> u8 {
        1
    }

    fn set_lineage_of_tables(&mut self, _: Lineage) {}

    fn save_lineage(&mut self) {}

    fn count(&mut self, _: FlowEvent) {}

    fn apply_error(&self) -> Option<ApplyError> {
        None
    }

    fn is_own_statement(&self) -> bool {
        false
    }

    fn vote_result(&self, _: i64) -> Option<VoteResult> {
        None
    }

    fn add_vote_results(&mut self, _: &[(i64, VoteResult)]) {}

    fn abandon_vote(&mut self) {}

    fn check_vote_results(&mut self) {}

    fn resolved_upto(&self) -> i64 {
        -1
    }

    fn preferred_donor(&self) -> String {
        String::new()
    }

    fn donating_to(&self) -> Option<String> {
        None
    }

    fn start_donation(&mut self, _: Vec<u8>, _: Uuid, _: String) {}

    fn donation_status(&self, _: Uuid) -> DonationStatus {
        DonationStatus::NotStarted
    }
}
