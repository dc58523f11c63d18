//! Starts, crashes and stops of processes, and the SSTs between them.

use super::*;
use crate::node_state::StateEvent;

impl World {
    pub(super) fn begin_sst(&mut self, donor: Slot) {
        let takes_ms = self.rng.between(100, 8_000);
        let is_whole = self.failing_ssts == 0;
        self.failing_ssts = self.failing_ssts.saturating_sub(1);
        let process = self.nodes[&donor].process;
        let host = self.host(donor).expect("it runs");
        let donation = host.donations[0].clone();
        let (tables, instance_id, address) = (host.disk.tables.clone(), donation.instance_id, donation.address);
        let upto = tables.len();
        self.trace(|| format!("{donor:?} sends its tables at {upto} to {address}"));
        self.at(takes_ms, Event::SstEnds { donor, process, instance_id, address, tables, upto, is_whole });
        self.arrive(donor, Arrival::Time);
    }

    /// The script of a donor ends. It outlives its joiner.
    pub(super) fn end_sst(
        &mut self,
        (donor, process): (Slot, u64),
        instance_id: Uuid,
        address: &str,
        (tables, upto): (Vec<Row>, usize),
        is_whole: bool,
    ) {
        if !self.is_current(donor, process) {
            return;
        }
        let joiner = self.nodes.keys().copied().find(|slot| slot.address() == address).expect("nodes stay");
        let is_noticed = self.rng.percent(50);
        let mut is_sent = false;
        let is_cut = self.host_mut(donor).is_some_and(|host| std::mem::take(&mut host.is_sst_cut));
        if let Some(host) = self.host_mut(joiner).filter(|host| host.receives() && !is_cut) {
            assert_eq!(host.hello.instance_id, instance_id, "an SST arrives at another process than it is for");
            if is_whole {
                is_sent = true;
                (host.disk.tables, host.disk.flushed_tables) = (tables, upto);
                let position = Gtid { history_uuid: HISTORY, seqno: upto as i64 };
                host.sst_result = Some(SstResult::Received(position));
            } else if is_noticed {
                host.sst_result = Some(SstResult::Failed(1));
            }
        }
        self.trace(|| format!("the SST of {donor:?} to {joiner:?} ends: {is_sent}"));
        if let Some(host) = self.host_mut(donor) {
            host.end_donation(instance_id, is_sent);
        }
        self.arrive(joiner, Arrival::Time);
        self.arrive(donor, Arrival::Time);
    }

    pub(super) fn start(&mut self, slot: Slot) {
        self.processes += 1;
        let (number, now_ms) = (self.processes, self.now_ms);
        let mut disk = std::mem::take(&mut self.nodes.get_mut(&slot).expect("nodes stay").disk);
        let mut rng = Rng::new(self.rng.next());
        let mut uuid = || Uuid((u128::from(rng.next()) << 64 | u128::from(rng.next())).to_be_bytes());
        let (member_id, instance_id, generation) = (uuid(), uuid(), uuid());
        let is_new_cluster = number == 1;
        if is_new_cluster {
            disk.log = Some(MemoryLog::new(HISTORY, Index(0)));
            disk.saved = Some(SavedState { stopped_at: 0, ..SavedState::running(HISTORY, member_id) });
        }
        let hard_state = disk.hard_state.take().unwrap_or_else(|| {
            let lineage = is_new_cluster.then(|| Lineage::initial(generation));
            server::new_hard_state(NodeId(slot.0 + PLACES * number), &slot.address(), lineage)
        });
        disk.hard_state = Some(hard_state.clone());
        let versions = self.release_for(slot, &disk);
        let is_witness = self.settings.is_witness(slot);
        let hello = Hello {
            versions,
            in_force: (!hard_state.lineage.is_unknown()).then_some(hard_state.protocol),
            history_uuid: disk.log.as_ref().map_or(Uuid::UNDEFINED, |log| log.history_uuid),
            lineage: hard_state.lineage,
            node: hard_state.node,
            instance_id,
            cluster_name: "simulated".to_owned(),
            name: format!("node{}", slot.0),
            incoming: String::new(),
            address: slot.address(),
            extension: if is_witness { Hello::OF_WITNESS.to_vec() } else { Vec::new() },
        };
        let raft = match initial_state(&hard_state, disk.log.as_ref(), instance_id) {
            Ok(raft) => raft,
            Err(Error::LogLost(_)) => {
                // The operator does what the message says.
                self.trace(|| format!("{slot:?} has lost its log"));
                return self.start(slot);
            }
            Err(error) => panic!("the hard state does not fit the log: {error}"),
        };
        self.trace(|| {
            format!(
                "{slot:?} starts: log {:?} to {:?}, tables at {}",
                disk.log.as_ref().map(LogRecords::first),
                raft.last,
                disk.tables.len()
            )
        });
        let hosts = self.nodes.keys().map(|slot| slot.address()).collect();
        let mut host = Process::new(disk, hello, member_id, rng, is_witness);
        host.ignores_quorum = self.settings.continues_alone == Some(slot);
        host.wanted_weight = self.nodes[&slot].wanted_weight;
        let settings = replica::Settings {
            hard_state,
            versions,
            raft,
            instance_id,
            hosts,
            timing: self.settings.timing,
            retain_time: RETAIN_TIME,
            is_new_cluster,
            is_witness,
        };
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        node.replica = Some(Box::new(Replica::new(host, settings)));
        (node.process, node.started_ms, node.run_at_ms) = (number, now_ms, u64::MAX);
        (node.is_syncing, node.is_apply_planned, node.is_leaving) = (false, false, false);
        node.inbox.clear();
        self.at(TABLES_FLUSH_MS, Event::FlushTables { slot, process: number });
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        others.into_iter().for_each(|other| self.dial(slot, other));
        self.run_node(slot);
    }

    pub fn crash(&mut self, slot: Slot, restart_ms: u64) {
        let in_ms = self.rng.between(1, restart_ms);
        self.crash_for(slot, in_ms);
    }

    pub fn crash_for(&mut self, slot: Slot, in_ms: u64) {
        self.take_facts(slot);
        self.note_release(slot);
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if let Some(replica) = node.replica.take() {
            node.disk = server::crash(replica.host);
            node.stopped_until_ms = 0;
            self.trace(|| format!("{slot:?} crashes"));
            self.break_links_of(slot);
            self.at(in_ms, Event::Start { slot });
        }
    }

    /// The replica has ended: after a failure, or a leave.
    pub(super) fn stopped(&mut self, slot: Slot) {
        self.take_output(slot);
        self.note_release(slot);
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        let Some(replica) = node.replica.take() else { return };
        let failed = replica.host.failed.clone();
        self.trace(|| format!("{slot:?} ends: {failed:?}"));
        if let Some(text) = &failed {
            self.invariants.failed(slot, text);
        }
        let is_killed = failed.is_some() && self.rng.percent(50);
        let disk = if is_killed { server::crash(replica.host) } else { replica.host.stopped() };
        // The operator does what the message says.
        let is_discarded = failed.is_some_and(|text| text.contains("no majority of the old cluster"));
        let disk = if is_discarded { Disk::default() } else { disk };
        self.nodes.get_mut(&slot).expect("nodes stay").disk = disk;
        self.break_links_of(slot);
        let in_ms = self.rng.between(10, 4_000);
        self.at(in_ms, Event::Start { slot });
    }

    pub fn stop_for(&mut self, slot: Slot, for_ms: u64) {
        self.nodes.get_mut(&slot).expect("nodes stay").stopped_until_ms = self.now_ms + for_ms;
        self.at(for_ms, Event::Resume { slot });
    }

    /// A clean stop: the node leaves first.
    pub fn leave(&mut self, slot: Slot) {
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        let process = node.process;
        let Some(replica) = node.replica.as_mut().filter(|replica| replica.host.failed.is_none()) else { return };
        let _ = replica.host.gate.shift(StateEvent::Left);
        replica.host.is_held = true;
        replica.host.commands.push(Command::Leave);
        node.is_leaving = true;
        self.at(10_000, Event::LeaveTimeout { slot, process });
        self.arrive(slot, Arrival::Time);
    }
}
