//! The server's threads of a process: its start, the applying, and its clients.

use std::time::Duration;

use hortator_core::{Key, Mode};

use super::process::{Disk, Fact, Process, Row};
use super::upgrades;
use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{LogId, Term};
use crate::consensus::wire::DonationStatus;
use crate::entry::{self, Entry, Stamp, WriteSetHead};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{Index, LogRecords};
use crate::node::replica::{ClusterStatus, Command, JoinRequest, LocalNode};
use crate::node::supervisor::{self, Compared, Comparing, Stage, Step};
use crate::node_state::StateEvent;
use crate::protocol::ProtocolVersion;
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{Flags, Member};
use crate::vote_result::ApplyError;

/// Seqnos between two commit cuts.
const CUT_INTERVAL_SEQNOS: i64 = 24;
/// Rows that the clients change.
const ROWS: u64 = 24;

/// Work for the appliers, in order.
#[derive(Clone, Debug)]
pub enum Work {
    WriteSet { seqno: i64, source: Uuid, request_id: u64, passed: bool, is_own: bool },
    View { seqno: i64, members: Vec<Member> },
    Donate,
}

/// What applying has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Nothing,
    Done,
    /// The process begins to send an SST.
    Sends,
}

impl Process {
    /// The next steps of the start, as far as they can go now.
    pub fn advance_start(&mut self) {
        while self.failed.is_none() && !self.is_running {
            let (status, has_log, now) = (self.status, self.disk.log.is_some(), Duration::from_millis(self.now_ms));
            let step = self.supervisor.next(&status, has_log, &mut self.sst_result, now);
            if step != Step::Wait {
                self.shift(StateEvent::QuorumFound);
            }
            match step {
                Step::Wait => return,
                Step::RecoverAlone => self.recover_alone(),
                Step::Compare(comparing) => self.compare(status, comparing),
                Step::AskToPrepare(_) => self.commands.push(Command::SendJoinRequest(JoinRequest::PrepareSst)),
                Step::RequestSst => {
                    self.shift(StateEvent::SstRequested);
                    self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED));
                    (self.disk.tables, self.disk.flushed_tables) = (vec![Row::Garbage], 1);
                    let request = self.hello.instance_id.0.to_vec();
                    self.commands.push(Command::SendJoinRequest(JoinRequest::Join { request }));
                }
                Step::TablesReceived(_) => self.shift(StateEvent::SstReceived),
                Step::LogReceived { history_uuid, resolved_upto } => {
                    self.inconsistency.on_sst_received(resolved_upto);
                    self.save(SavedState::running(history_uuid, self.member_id));
                }
                Step::Fail(failure) => self.end(&failure.to_string()),
            }
        }
    }

    /// Whether it waits for the tables of an SST.
    pub fn receives(&self) -> bool {
        matches!(self.supervisor.stage(), Stage::Receive { .. })
    }

    /// The process ends, and is started again.
    pub fn end(&mut self, text: &str) {
        self.failed.get_or_insert(text.to_owned());
        self.commands.push(Command::Stop);
    }

    /// The tables do not match a vote: the next start receives others.
    pub fn end_inconsistent(&mut self, seqno: i64) {
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED));
        let _ = self.gate.fail();
        self.end(&format!("inconsistency vote on seqno {seqno}"));
    }

    pub fn tables_at(&self) -> Option<Gtid> {
        let log = self.disk.log.as_ref();
        let history_uuid = log.map_or(Uuid::UNDEFINED, |log| log.history_uuid);
        let said =
            if self.disk.tables.is_empty() { Gtid::UNDEFINED } else { Gtid { history_uuid, seqno: self.released() } };
        recovery::tables_at(said, self.disk.saved.as_ref())
    }

    fn plan(&self, commit_index: Index) -> Option<Result<Plan, recovery::Error>> {
        let log = self.disk.log.as_ref()?;
        Some(recovery::make_plan(log, commit_index, log.history_uuid, self.tables_at(), self.disk.saved.as_ref()))
    }

    fn compare(&mut self, status: ClusterStatus, Comparing { has_received, has_log }: Comparing) {
        let plan = if has_log { self.plan(status.apply_bound) } else { None };
        let inconsistency = &mut self.inconsistency;
        let judged = supervisor::judge(
            plan.as_ref(),
            |plan| {
                inconsistency.reset_to(plan.tables_at);
                inconsistency.add_results(&plan.vote_results);
                inconsistency.wrongly_applied(plan.tables_at)
            },
            has_received,
        );
        let compared =
            judged.unwrap_or_else(|text| panic!("{}: the log does not fit the tables: {text}", self.hello.name));
        self.supervisor.compared(&compared);
        match (compared, plan) {
            (Compared::Fits, Some(Ok(plan))) => self.start_ordering(plan),
            (Compared::Unusable(failure), _) => self.end(&failure.to_string()),
            _ => {}
        }
    }

    fn start_ordering(&mut self, plan: Plan) {
        let Plan { mut order, tables_at, order_from, .. } = plan;
        order.member = self.member_id;
        order.set_cut_interval(CUT_INTERVAL_SEQNOS);
        let history_uuid = order.history_uuid;
        assert_eq!(tables_at, self.released(), "{} starts from other tables", self.hello.name);
        (self.order, self.is_single_node) = (Some(order), false);
        let failed_at = self.disk.saved.map_or(-1, |saved| saved.failed_at);
        self.save(SavedState { failed_at, ..SavedState::running(history_uuid, self.member_id) });
        self.is_caught_up = true;
        self.commands.push(Command::OrderFrom(order_from));
        self.is_running = true;
    }

    /// A single node applies its whole log, and opens to its clients.
    fn recover_alone(&mut self) {
        let last = self.disk.log.as_ref().map_or(Index(0), LogRecords::last);
        let Some(Ok(plan)) = self.plan(last) else {
            panic!("{} is alone, and its log does not fit its tables", self.hello.name)
        };
        self.inconsistency.reset_to(plan.tables_at);
        self.inconsistency.add_results(&plan.vote_results);
        let (mut order, order_from) = (plan.order, plan.order_from);
        if plan.tables_at > order.seqno {
            order.skip_to(plan.tables_at);
        }
        let log = self.disk.log.clone().expect("it has a plan");
        for record in log.records().expect("it is in memory") {
            let (index, bytes) = record.expect("it is in memory");
            if index < order_from {
                continue;
            }
            let (stamp, entry) = entry::decode(&bytes).expect("entries are valid");
            let verdict = order.apply_entry(index, stamp, &entry);
            let passed = verdict.is_some_and(|verdict| verdict.passed);
            let (seqno, protocol) = (stamp.seqno, order.protocol);
            self.facts.push(Fact::Ordered { index, seqno, protocol, bytes, passed });
            let row = match entry {
                Entry::WriteSet { .. } if !passed => Row::Failed,
                Entry::WriteSet { .. } if self.skips(stamp.seqno) => Row::Skipped,
                Entry::WriteSet { head, .. } => Row::Applied(head.source, head.request_id),
                Entry::View { .. } => Row::View,
                _ => continue,
            };
            self.change_tables(stamp.seqno, row);
        }
        order.set_cut_interval(CUT_INTERVAL_SEQNOS);
        order.member = self.member_id;
        let (members, number, history_uuid) = (vec![self.own_member()], order.view_number + 1, order.history_uuid);
        let seqno = order.seqno + 1;
        order.protocol = order.protocol.max(self.hello.versions.newest);
        let protocol = order.protocol;
        let (index, bytes) = self.append_alone(entry::encode_view(number, &members), seqno, protocol);
        self.facts.push(Fact::Ordered { index, seqno, protocol, bytes, passed: false });
        order.set_view(seqno, number, &members);
        (self.order, self.is_single_node) = (Some(order), true);
        self.change_tables(seqno, Row::View);
        self.save(SavedState::running(history_uuid, self.member_id));
        self.is_running = true;
        self.shift(StateEvent::CaughtUp);
        self.commands.push(Command::Recheck);
    }

    /// A client's thread of a single node appends, and waits for the disk.
    fn append_alone(&mut self, mut bytes: Vec<u8>, seqno: i64, protocol: ProtocolVersion) -> (Index, Vec<u8>) {
        entry::set_stamp(&mut bytes, Stamp { seqno, term: self.leader_term, protocol });
        upgrades::on_append(self, &bytes);
        let log = self.disk.log.as_mut().expect("a single node has a log");
        (log.is_full, log.refuses) = (false, false);
        let index = log.append(&bytes).expect("there is room");
        log.sync(index).expect("it was just appended");
        (index, bytes)
    }

    fn skips(&self, seqno: i64) -> bool {
        self.inconsistency.result(seqno).is_some_and(|result| result.error != 0)
    }

    fn change_tables(&mut self, seqno: i64, row: Row) {
        assert_eq!(seqno, self.released() + 1, "{} skips a seqno, or applies one again", self.hello.name);
        self.disk.tables.push(row);
        self.facts.push(Fact::Applied { seqno, row });
    }

    /// Applies the next entry of the queue.
    pub fn apply_next(&mut self) -> Applied {
        if self.failed.is_some() {
            return Applied::Nothing;
        }
        let Some(work) = self.queue.front().cloned() else { return Applied::Nothing };
        match work {
            Work::WriteSet { seqno, source, request_id, passed, is_own } => {
                let mut row = if passed { Row::Applied(source, request_id) } else { Row::Failed };
                if passed && !is_own {
                    match self.vote_on(seqno) {
                        Some(true) => row = Row::Skipped,
                        Some(false) => {}
                        None => return Applied::Nothing,
                    }
                }
                self.change_tables(seqno, row);
                if is_own && self.waiting.remove(&request_id) && passed {
                    self.facts.push(Fact::Confirmed { seqno, row });
                }
            }
            Work::View { seqno, members } => {
                self.change_tables(seqno, Row::View);
                let is_in = members.iter().any(|member| member.id == self.member_id);
                let order = self.order.as_ref().expect("what is ordered has an order");
                let is_still_in = order.has_stayed_since(seqno);
                if is_in && is_still_in && self.gate.state() == GateState::Closed {
                    let history_uuid = order.history_uuid;
                    self.save(SavedState::running(history_uuid, self.member_id));
                    self.shift(StateEvent::CaughtUp);
                }
            }
            Work::Donate => {
                self.queue.pop_front();
                return Applied::Sends;
            }
        }
        self.queue.pop_front();
        self.commands.push(Command::Recheck);
        Applied::Done
    }

    /// Whether the nodes skip the seqno. None: the vote is not over, or this node has left.
    fn vote_on(&mut self, seqno: i64) -> Option<bool> {
        if self.fails_at != Some(seqno) {
            return Some(false);
        }
        let apply_error = ApplyError::new(seqno, b"a simulated error");
        if let Some(result) = self.inconsistency.result(seqno) {
            (self.fails_at, self.has_asked) = (None, false);
            self.inconsistency.abandon_vote();
            if !result.is_skipped_by(apply_error.error) {
                self.end_inconsistent(seqno);
                return None;
            }
            self.inconsistency.set_resolved_upto(seqno);
            return Some(true);
        }
        if self.is_single_node || self.has_asked && self.inconsistency.apply_error().is_none() {
            // There is no vote: the server leaves, and applies the seqno after its restart.
            self.end("no vote on an apply error");
            return None;
        }
        if !self.has_asked {
            self.has_asked = true;
            self.inconsistency.raise(apply_error, false);
            self.commands.push(Command::Recheck);
        }
        None
    }

    fn shift(&mut self, event: StateEvent) {
        let _ = self.gate.shift(event);
    }

    /// A client changes a few rows.
    pub fn write(&mut self) {
        let Some(order) = self.order.as_ref().filter(|_| self.gate.state() == GateState::Open) else { return };
        let (source, ordered) = (order.member, order.seqno);
        let count = self.rng.between(1, 3);
        let key = |nth: u64| (Key::table(b"test", format!("t{nth}").as_bytes()), Mode::RowExclusive);
        let keys: Vec<(Key, Mode)> = (0..count).map(|_| key(self.rng.between(1, ROWS))).collect();
        let request_id = self.next_request_id;
        self.next_request_id += 1;
        let flags = Flags::TRX_START.with(Flags::TRX_END);
        let head = WriteSetHead { flags, source, trx: request_id, conn: 1, last_seen: self.released(), request_id };
        let bytes = entry::encode_write_set(&head, &keys, 0);
        if !self.is_single_node {
            self.waiting.insert(request_id);
            self.pending_proposals.insert(request_id, head.last_seen);
            return self.commands.push(Command::Propose { request_id, bytes });
        }
        let seqno = ordered + 1;
        let protocol = self.order.as_ref().expect("it has one").protocol;
        let (index, bytes) = self.append_alone(bytes, seqno, protocol);
        let order = self.order.as_mut().expect("it has one");
        let passed = order.certify_write_set(seqno, &head, &keys, 0).passed;
        self.facts.push(Fact::Ordered { index, seqno, protocol, bytes, passed });
        let order = self.order.as_ref().expect("it has one");
        if order.needs_commit_cut() && head.last_seen > order.last_cut_upto {
            let cut = order.next_commit_cut(head.last_seen);
            let (index, bytes) = self.append_alone(entry::encode_commit_cut(&cut), seqno, protocol);
            self.facts.push(Fact::Ordered { index, seqno, protocol, bytes, passed: false });
            self.order.as_mut().expect("it has one").apply_commit_cut(index, &cut);
        }
        // Entries from before the mode may still wait for the appliers.
        self.waiting.insert(request_id);
        self.queue.push_back(Work::WriteSet { seqno, source, request_id, passed, is_own: true });
    }

    /// The SST that this process sends has ended.
    pub fn end_donation(&mut self, instance_id: Uuid, is_sent: bool) {
        self.is_donating = false;
        if let Some(donation) = self.donations.iter_mut().find(|donation| donation.instance_id == instance_id) {
            donation.status = if is_sent { DonationStatus::Sent } else { DonationStatus::Failed { code: 1 } };
        }
    }

    /// A clean stop has ended: everything is on the disk.
    pub fn stopped(mut self) -> Disk {
        let ordered = self.order.as_ref().map_or(0, |order| order.seqno);
        if let Some(saved) = self.disk.saved.filter(|_| ordered == self.released() && self.failed.is_none()) {
            self.save(SavedState { stopped_at: ordered, ..saved });
        }
        self.disk.flushed_tables = self.disk.tables.len();
        self.disk
    }
}

/// The process is killed.
pub fn crash(process: Process) -> Disk {
    let Process { mut disk, mut rng, .. } = process;
    if let Some(log) = &mut disk.log {
        log.crash(&mut rng);
    }
    let flushed = disk.flushed_tables.min(disk.tables.len());
    let left = rng.between(flushed as u64, disk.tables.len() as u64) as usize;
    disk.tables.truncate(left);
    disk.flushed_tables = left;
    disk
}

/// The state of a new node. `lineage`: it bootstraps the cluster.
pub fn new_hard_state(node: NodeId, address: &str, lineage: Option<Lineage>) -> HardState {
    let nothing = LogId { term: Term(0), index: Index(0) };
    HardState {
        node,
        term: Term(0),
        voted_for: None,
        committed: Index(0),
        membership_log_id: nothing,
        snapshot_log_id: nothing,
        voters: lineage.map(|_| (node, address.to_owned())).into_iter().collect(),
        weights: [].into(),
        pending_memberships: Vec::new(),
        lineage: lineage.unwrap_or(Lineage::UNKNOWN),
        protocol: ProtocolVersion::FIRST,
    }
}
