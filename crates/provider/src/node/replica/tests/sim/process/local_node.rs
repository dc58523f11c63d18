//! The total order, the tables and the votes of a process.

use super::*;

/// Entries that wait to be applied before flow control.
const QUEUE_LIMIT: u64 = 16;
/// Entries that still wait when flow control ends.
const RESUME_LIMIT: u64 = 8;
/// Entries that wait to be applied before nothing more is ordered.
const ORDER_LIMIT: usize = 48;

impl LocalNode for Process {
    fn name(&self) -> String {
        self.hello.name.clone()
    }

    fn log(&self, _: Level, text: &str) {
        if self.is_verbose {
            eprintln!("{} {}: {text}", self.now_ms, self.hello.name);
        }
    }

    fn log_transfer_request(&self, joiner: &str, preference: &str, donor: &str) {
        self.note(&format!("{joiner} requests an SST from '{preference}', and gets it from {donor}"));
    }

    fn fail(&mut self, text: &str) {
        self.log(Level::Error, text);
        self.failed.get_or_insert(text.to_owned());
        let _ = self.gate.fail();
        self.commands.push(Command::Stop);
    }

    fn end_start(&mut self) {}

    fn gate_state(&self) -> GateState {
        if self.witness.is_some() { GateState::Open } else { self.gate.state() }
    }

    fn member_id(&self) -> Uuid {
        self.member_id
    }

    fn own_member(&self) -> Member {
        Member { id: self.member_id, name: self.hello.name.clone(), incoming: self.hello.incoming.clone() }
    }

    fn history_uuid(&self) -> Uuid {
        self.disk.log.as_ref().map_or(Uuid::UNDEFINED, |log| log.history_uuid)
    }

    fn has_no_tables(&self) -> bool {
        self.disk.saved.is_some_and(|saved| saved.history_uuid.is_undefined())
    }

    fn tables_position(&self) -> Option<Gtid> {
        self.tables_at()
    }

    fn with_order<T>(&self, read: impl FnOnce(&TotalOrder) -> T) -> Option<T> {
        let order = self.witness.as_ref().map_or(self.order.as_ref(), WitnessOrder::order);
        order.map(read)
    }

    fn last_released(&self) -> i64 {
        self.witness.as_ref().map_or_else(|| self.released(), WitnessOrder::applied_by_all)
    }

    fn is_caught_up(&self) -> bool {
        self.is_caught_up
    }

    fn can_order(&self) -> bool {
        self.queue.len() < ORDER_LIMIT && !self.is_held
    }

    fn order_committed(
        &mut self,
        index: Index,
        bytes: &[u8],
        own_member_ids: &[Uuid],
    ) -> Result<Option<OrderedEntry>, CallbackError> {
        let (stamp, entry) = entry::decode(bytes).expect("committed entries are valid");
        if let Some(witness) = &mut self.witness {
            let members = witness.order().map(TotalOrder::members).unwrap_or_default();
            if let Entry::CommitCut(cut) = &entry
                && !members.is_empty()
            {
                assert_eq!(cut.members, members, "the witness knows another view than the commit cut at {index}");
            }
            let history_uuid = self.disk.log.as_ref().expect("it has ordered its entry").history_uuid;
            return match witness.order_entry(history_uuid, index, bytes) {
                Ok(ordered) => Ok(Some(ordered)),
                Err(text) => {
                    self.fail(&text);
                    Err(CallbackError)
                }
            };
        }
        let released = self.released();
        let order = self.order.as_mut().ok_or(CallbackError)?;
        if let Err(text) = order.check_entry(index, stamp, &entry) {
            self.fail(&text);
            return Err(CallbackError);
        }
        if let Entry::CommitCut(cut) = &entry
            && !order.members().is_empty()
        {
            assert_eq!(cut.members, order.members(), "the commit cut at {index} has another view than its index");
        }
        let verdict = order.apply_entry(index, stamp, &entry);
        let passed = verdict.is_some_and(|verdict| verdict.passed);
        let has_stayed = matches!(&entry, Entry::WriteSet { head, .. } if order.has_stayed_since(head.last_seen));
        let (seqno, protocol) = (stamp.seqno, order.protocol);
        self.facts.push(Fact::Ordered { index, seqno, protocol, bytes: bytes.to_vec(), passed });
        let too_old =
            verdict.and_then(|verdict| verdict.failure).filter(|failure| matches!(failure, Failure::TooOld { .. }));
        let mut ordered = OrderedEntry { term: stamp.term, request: None, is_excluded: false };
        let is_applied = takes_seqno(&entry) && seqno <= released;
        let work = match entry {
            Entry::WriteSet { head, .. } => {
                ordered.request = Some((head.source, head.request_id));
                let is_own = own_member_ids.contains(&head.source) && self.waiting.contains(&head.request_id);
                let was_pending = is_own && self.pending_proposals.remove(&head.request_id).is_some();
                if let Some(failure) = too_old.filter(|_| was_pending && has_stayed) {
                    self.facts.push(Fact::TooOld { seqno, failure });
                }
                Work::WriteSet { seqno, source: head.source, request_id: head.request_id, passed, is_own }
            }
            Entry::View { members, .. } => {
                let is_in = members.iter().any(|member| member.id == self.member_id);
                ordered.is_excluded = !is_in && self.gate.node_state().takes_part();
                Work::View { seqno, members }
            }
            Entry::CommitCut(cut) => {
                self.inconsistency.purge(cut.upto.min(released));
                return Ok(Some(ordered));
            }
            Entry::VoteResult { seqno, result } => {
                self.inconsistency.add_results(&[(seqno, result)]);
                return Ok(Some(ordered));
            }
            Entry::Membership(_) | Entry::NoOp => return Ok(Some(ordered)),
        };
        if !is_applied {
            self.queue.push_back(work);
        }
        Ok(Some(ordered))
    }

    fn queued(&self) -> (u64, u64) {
        (self.queue.len() as u64, QUEUE_LIMIT)
    }

    fn resume_limit(&self) -> u64 {
        RESUME_LIMIT
    }

    fn is_desynced(&self) -> bool {
        false
    }

    fn set_leader_term(&mut self, term: Term) {
        self.leader_term = term;
        self.facts.push(Fact::Leads { term });
    }

    fn enter_single_node(&mut self, ordered: Option<Index>, has_proposals: bool) -> bool {
        assert!(self.witness.is_none(), "a witness is the only voter");
        if let Some(order) = self.order.as_ref().filter(|_| !self.is_single_node) {
            let last = self.disk.log.as_ref().map(LogRecords::last);
            let is_alone_in_view = order.members().iter().all(|member| member.id == self.member_id);
            let is_open = self.gate.state() == GateState::Open;
            if ordered != last || has_proposals || !self.waiting.is_empty() || !is_open || !is_alone_in_view {
                return false;
            }
        }
        self.is_single_node = true;
        true
    }

    fn leave_single_node(&mut self) -> Option<SingleNodeEnd> {
        let TotalOrder { seqno, protocol, .. } = *self.order.as_ref()?;
        if self.gate.state() != GateState::Open {
            return None;
        }
        self.is_single_node = false;
        self.is_caught_up = true;
        Some(SingleNodeEnd { last: self.memory_log().last(), seqno, protocol })
    }

    fn lose_quorum(&mut self) -> Option<Uuid> {
        if self.order.is_none() || !self.gate.shift(StateEvent::QuorumLost).is_change() {
            return None;
        }
        self.member_id = self.random();
        let member_id = self.member_id;
        if let Some(order) = &mut self.order {
            order.member = member_id;
        }
        self.waiting.clear();
        self.pending_proposals.clear();
        Some(member_id)
    }

    fn ignores_quorum(&self) -> bool {
        self.ignores_quorum
    }

    fn wanted_weight(&self) -> u8 {
        self.wanted_weight
    }

    fn set_lineage_of_tables(&mut self, lineage: Lineage) {
        self.hello.lineage = lineage;
    }

    fn save_lineage(&mut self) {
        if let Some(saved) = self.disk.saved {
            self.save(saved);
        }
    }

    fn count(&mut self, _: FlowEvent) {}

    fn apply_error(&self) -> Option<ApplyError> {
        self.inconsistency.apply_error()
    }

    fn is_own_statement(&self) -> bool {
        self.inconsistency.is_own_statement()
    }

    fn vote_result(&self, seqno: i64) -> Option<VoteResult> {
        self.inconsistency.result(seqno)
    }

    fn add_vote_results(&mut self, results: &[(i64, VoteResult)]) {
        self.inconsistency.add_results(results);
    }

    fn abandon_vote(&mut self) {
        self.inconsistency.abandon_vote();
    }

    fn check_vote_results(&mut self) {
        if let Some(seqno) = self.inconsistency.wrongly_applied(self.released()).filter(|_| self.failed.is_none()) {
            self.end_inconsistent(seqno);
        }
    }

    fn resolved_upto(&self) -> i64 {
        self.inconsistency.resolved_upto()
    }

    fn preferred_donor(&self) -> String {
        String::new()
    }

    fn donating_to(&self) -> Option<String> {
        self.donations.first().filter(|_| self.is_donating).map(|donation| donation.address.clone())
    }

    fn start_donation(&mut self, _: Vec<u8>, instance_id: Uuid, address: String) {
        if !self.is_donating {
            self.is_donating = true;
            self.donations.retain(|donation| donation.status != DonationStatus::InProgress);
            self.donations.insert(0, Donation { instance_id, address, status: DonationStatus::InProgress });
            self.queue.push_back(Work::Donate);
        }
    }

    fn donation_status(&self, instance_id: Uuid) -> DonationStatus {
        let to_it = self.donations.iter().find(|donation| donation.instance_id == instance_id);
        to_it.map_or(DonationStatus::NotStarted, |donation| donation.status)
    }
}
