//! Releases: which protocol versions a process speaks, upgrades and downgrades of places, and the frames between releases.

use super::process::{Disk, Fact, Process};
use super::world::{Slot, World, slot_of};
use crate::consensus::NodeId;
use crate::consensus::links::link_version;
use crate::consensus::wire::{self, BODY_LIMIT_BYTES, Frame, FrameReader, IncomingFrame};
use crate::entry;
use crate::log::LogRecords;
use crate::node::replica::LocalNode;
use crate::protocol::{ProtocolRange, ProtocolVersion};

/// The release before this one.
pub const PREVIOUS: ProtocolRange = ProtocolRange { lowest: ProtocolVersion::FIRST, newest: ProtocolVersion::FIRST };

/// The end of a process is noticed by all others this soon.
const DOWN_NOTICED_MS: u64 = 1_000;

/// An entry is appended, by a replica or by a client's thread of a single node. A node appends only what its release can
/// read, and the versions in a log never fall.
pub fn on_append(host: &mut Process, bytes: &[u8]) {
    let protocol = |bytes| entry::meta(bytes).expect("appended entries are valid").0.protocol;
    let (stamp, _) = entry::meta(bytes).expect("appended entries are valid");
    let name = &host.hello.name;
    assert!(stamp.protocol <= host.hello.versions.newest, "{name} appends an entry that it cannot read");
    let Some(before) = host.disk.log.as_ref().and_then(|log| log.entry(log.last())).map(protocol) else { return };
    assert!(before <= stamp.protocol, "{name} appends an entry of version {} after one of {before}", stamp.protocol);
    if before < stamp.protocol && stamp.term == host.leader_term {
        let voters = host.disk.hard_state.iter().flat_map(|hard_state| hard_state.voters.keys().copied()).collect();
        host.facts.push(Fact::Raises { protocol: stamp.protocol, voters });
    }
}

/// Whether a process of that release can start from the disk.
fn is_readable(disk: &Disk, versions: ProtocolRange) -> bool {
    let newest = disk.hard_state.as_ref().map_or(ProtocolVersion::FIRST, |hard_state| hard_state.protocol);
    let records = disk.log.iter().flat_map(|log| log.records().expect("it is in memory"));
    let entries = records.map(|record| {
        let (_, bytes) = record.expect("it is in memory");
        entry::meta(&bytes).expect("entries are valid").0.protocol
    });
    entries.chain([newest]).all(|version| version <= versions.newest)
}

impl World {
    /// The release at that place. An operator who finds that it does not start installs the newer one.
    pub fn release_for(&mut self, slot: Slot, disk: &Disk) -> ProtocolRange {
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if !is_readable(disk, node.versions) {
            node.versions = ProtocolRange::SPOKEN;
        }
        node.versions
    }

    /// Installs a release, and restarts the node: cleanly, or it is killed.
    pub fn install(&mut self, slot: Slot, versions: ProtocolRange, restart_ms: u64) {
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if std::mem::replace(&mut node.versions, versions) == versions {
            return;
        }
        self.trace(|| format!("{slot:?} gets the release with versions {versions}"));
        if self.rng.percent(50) { self.crash(slot, restart_ms) } else { self.leave(slot) }
    }

    /// A process ends. Remembers until when the place has run the newest release.
    pub fn note_release(&mut self, slot: Slot) {
        let is_newest = self.host(slot).is_some_and(|host| host.hello.versions == ProtocolRange::SPOKEN);
        if is_newest {
            self.nodes.get_mut(&slot).expect("nodes stay").newest_until_ms = Some(self.now_ms);
        }
    }

    /// A leader raises the version only if all voters speak it: they run the newest release, or did a moment ago.
    pub fn check_raise(&mut self, leader: Slot, protocol: ProtocolVersion, voters: &[NodeId]) {
        for slot in voters.iter().copied().map(slot_of) {
            self.note_release(slot);
            let since_ms = self.nodes[&slot].newest_until_ms.map(|until_ms| self.now_ms - until_ms);
            assert!(
                since_ms.is_some_and(|since_ms| since_ms < DOWN_NOTICED_MS),
                "{leader:?} raises the version to {protocol}, and the voter {slot:?} lacks it: {since_ms:?}"
            );
        }
    }

    /// The operator completes the upgrade.
    pub fn install_everywhere(&mut self) {
        let slots: Vec<Slot> = self.nodes.keys().copied().collect();
        for slot in slots {
            self.nodes.get_mut(&slot).expect("nodes stay").versions = ProtocolRange::SPOKEN;
            if self.host(slot).is_some_and(|host| host.hello.versions != ProtocolRange::SPOKEN) {
                self.crash(slot, 3_000);
            }
        }
    }

    /// Whether the newest version is in force on that node.
    pub fn is_upgraded(&self, slot: Slot) -> bool {
        let newest = ProtocolRange::SPOKEN.newest;
        self.host(slot).is_some_and(|host| {
            let in_order = host.with_order(|order| order.protocol) == Some(newest);
            let is_saved = host.disk.hard_state.as_ref().is_some_and(|hard_state| hard_state.protocol == newest);
            in_order && is_saved && host.hello.in_force == Some(newest)
        })
    }

    /// Another version is in force at the node: links to nodes that lack it end.
    pub fn check_versions(&mut self, slot: Slot) {
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        for other in others {
            let (Some(one), Some(two)) = (self.host(slot), self.host(other)) else { continue };
            if link_version(&one.hello, &two.hello).is_err() {
                self.break_link(slot, other);
            }
        }
    }

    /// The frame as the receiver reads it. None: the link is about to end, or the frame holds entries that the receiver's
    /// release lacks, which it does not take.
    pub fn through_wire(&self, from: Slot, to: Slot, frame: Frame) -> Option<Frame> {
        let (Some(sender), Some(receiver)) = (self.host(from), self.host(to)) else { return Some(frame) };
        let version = link_version(&sender.hello, &receiver.hello).ok()?;
        let versions = receiver.hello.versions;
        if let Frame::Raft { payloads, .. } = &frame
            && payloads.iter().any(|bytes| entry::meta(bytes).is_ok_and(|(stamp, _)| stamp.protocol > versions.newest))
        {
            return None;
        }
        let mut bytes = Vec::new();
        wire::encode(&mut bytes, &frame, version).expect("it is small");
        let mut reader = FrameReader::new(BODY_LIMIT_BYTES, versions);
        reader.read_buffer().extend_from_slice(&bytes);
        match reader.next() {
            Ok(Some(IncomingFrame::Frame(frame))) => Some(frame),
            other => panic!("{to:?} cannot read {frame:?} of {from:?}: {other:?}"),
        }
    }
}
