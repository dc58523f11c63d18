//! The tables of another node are to come: what the node does until they are there, and when they do not come.
//!
//! Who gives them is asked every second how it stands with that. A donor that could not send them, that was started anew, or
//! that is not heard of for a while leaves its joiner's server waiting for something that never ends, so the provider ends
//! it. Nor can the server be told to begin again: its script has prepared for one transfer, and half of that may have come.
//! So its process ends, as with Galera, in a way by which whoever watches over it knows that it must be started anew.

use std::time::Duration;

use super::joining::Wants;
use super::thread::GroupThread;
use super::{Command, Together, Transfer};
use crate::gate::Passage;
use crate::group::NodeId;
use crate::group::wire::{Frame, Giving};
use crate::identity::{Gtid, Uuid};
use crate::node::{Node, lock};
use crate::saved_state::SavedState;
use crate::server::{Level, Refused};

/// A donor is asked so often how it stands.
const ASK_DONOR_MS: u64 = 1_000;
/// One that leaves so many questions unanswered is given up. That takes longer than a node may be silent to its links. Questions
/// are counted, and not the time: a joiner that stood still, its disk busy with the tables, does not blame its donor for it.
const UNANSWERED_LIMIT: u64 = 15;
/// It says that it has sent them about when they are there.
const DONOR_LIMIT: Duration = Duration::from_secs(20);

/// Who gives its tables to this node.
#[derive(Debug)]
pub(super) struct Donor {
    node: NodeId,
    /// It has said that it is at work.
    is_at_work: bool,
    asked_ms: u64,
    /// So many questions since it last said so.
    unanswered: u64,
}

/// The tables did not come.
pub(super) enum WithoutState {
    /// The node is told to go, or has failed, as it told.
    Goes,
    /// The server did not even prepare: nothing was changed.
    Unprepared,
    /// Why.
    Because(String),
}

impl Node {
    /// The tables of another node. Where they are then.
    pub(super) fn receive_state(&self, together: &Together) -> Result<Gtid, WithoutState> {
        use WithoutState::{Because, Goes, Unprepared};
        let contact = together.wait_for(None, |contact| !contact.history.is_undefined()).ok_or(Unprepared)?;
        let history = contact.history;
        self.note(&format!("a state transfer is needed from the cluster {history}"));
        let state = Gtid { history, seqno: i64::try_from(contact.agreed.0).unwrap_or(0) };
        self.connected_to(state).map_err(|Refused| Unprepared)?;
        // What is sent to a node that was killed here may still be under way: it would come to this one.
        together.ask(Command::Want(Wants::ToPrepare));
        together.wait_for(None, |contact| contact.may_prepare).ok_or(Unprepared)?;
        together.awaits_state(true);
        let request = self.server.sst_request().map_err(|Refused| Unprepared)?;
        // From here on the tables are nobody's until all of them have come, whatever a server that is killed meanwhile
        // finds in them.
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).map_err(|Refused| Goes)?;
        together.ask(Command::Want(Wants::ToJoin { request }));
        let position = match together.wait_for_transfer().ok_or(Goes)? {
            Transfer::Received(position) if position.history == history => position,
            Transfer::Received(position) => {
                let text = format!("the state that came is at {position}, not of the cluster {history}");
                return Err(Because(text));
            }
            Transfer::Failed(code) => {
                let text =
                    format!("the state transfer failed with {code}: see the lines above, and the donor's error log");
                return Err(Because(text));
            }
            Transfer::Hopeless(text) => return Err(Because(text)),
        };
        self.note(&format!("the state is at {position}"));
        let reaches = |contact: &super::Contact| contact.joins_behind.is_some_and(|behind| contact.agreed >= behind);
        together.wait_for(None, reaches).ok_or(Goes)?;
        // What was decided is heeded in them if the donor has heeded it. One that is gone may have had to go.
        let heard = together.wait_for(Some(DONOR_LIMIT), |contact| contact.donor_heeds.is_some());
        self.inconsistency.tables_came(heard.and_then(|contact| contact.donor_heeds).unwrap_or(-1));
        *lock(&self.saved) = Some(SavedState::running(history, self.member()));
        Ok(position)
    }

    /// Its tables are nobody's, and no others come: the server ends, unless it was told to anyway, or was up before and
    /// still has what it had.
    pub(super) fn ends_without_state(&self, together: &Together, without: &WithoutState) -> Refused {
        let has_failed = self.gate.passage() == Passage::Failed;
        if !has_failed && together.is_leaving() {
            return Refused;
        }
        let why = match without {
            WithoutState::Because(why) => why,
            WithoutState::Goes => "the state transfer cannot go on",
            WithoutState::Unprepared => "the server did not prepare a state transfer: see the lines above",
        };
        if matches!(without, WithoutState::Unprepared) && lock(&self.order).is_some() {
            self.server.log(Level::Error, &format!("{why}. Start the server anew: it can be given the tables then"));
            return Refused;
        }
        let text = format!(
            "{why}. The server ends here, since it has no tables to go on with. Start it anew: it asks for everything again, \
             and of whoever can give it then"
        );
        self.server.log(Level::Error, &text);
        self.server.end_process();
        Refused
    }

    /// The server has the state of another node, or could not get it. False: nobody asked for one.
    pub fn state_received(&self, state: Gtid, code: i32) -> bool {
        let together = self.together();
        if let Some(together) = &together {
            together.transferred(if code == 0 { Transfer::Received(state) } else { Transfer::Failed(code) });
        }
        together.is_some()
    }
}

impl Together {
    /// From now on the tables of another node are to come, or not any more.
    fn awaits_state(&self, awaits: bool) {
        let mut desk = self.desk();
        (desk.awaits_state, desk.transfer) = (awaits, None);
    }

    /// Waits for the end of a state transfer. None: the group's thread ended.
    fn wait_for_transfer(&self) -> Option<Transfer> {
        let mut desk = self.desk();
        loop {
            if let Some(transfer) = desk.transfer.take() {
                return Some(transfer);
            }
            if desk.is_over || desk.is_leaving {
                return None;
            }
            desk = self.wait(desk, None)?;
        }
    }

    /// This came of the state transfer to this node, if it waits for one. The first word counts.
    fn transferred(&self, transfer: Transfer) {
        let mut desk = self.desk();
        if desk.awaits_state {
            desk.awaits_state = false;
            desk.transfer = Some(transfer);
            self.changed.notify_all();
        }
    }
}

impl GroupThread {
    /// The leader says that the server may prepare.
    pub(super) fn may_prepare(&mut self) {
        if matches!(self.wants, Some(Wants::ToPrepare)) {
            self.wants = None;
            self.contact.may_prepare = true;
        }
    }

    /// The leader says who gives the tables.
    pub(super) fn donor_is(&mut self, node: NodeId) {
        if !matches!(self.wants, Some(Wants::ToJoin { .. })) {
            return;
        }
        self.node.note(&format!("{} gives its state to this node", self.name_of(node)));
        self.contact.donor_heeds = None;
        self.donor = Some(Donor { node, is_at_work: false, asked_ms: 0, unanswered: 0 });
    }

    /// The donor says how it stands.
    pub(super) fn hear_giving(&mut self, from: NodeId, standing: Giving, heeded_to: i64) {
        let Some(donor) = self.donor.as_mut().filter(|donor| donor.node == from) else { return };
        match standing {
            Giving::AtWork => (donor.is_at_work, donor.unanswered) = (true, 0),
            Giving::Sent => {
                self.contact.donor_heeds = Some(heeded_to);
                self.donor = None;
            }
            Giving::Failed { code } => {
                self.give_up(&format!("could not send its state ({code}): see its error log"));
            }
            Giving::Nothing if donor.is_at_work => {
                self.give_up("does not give its state any more: it was started anew");
            }
            // The leader's word may not have come there yet.
            Giving::Nothing => {}
        }
    }

    /// Asks the donor how it stands, and does not wait for one that is gone.
    pub(super) fn watch_donor(&mut self, now_ms: u64) {
        let Some(donor) = &mut self.donor else { return };
        if donor.asked_ms == 0 || now_ms - donor.asked_ms >= ASK_DONOR_MS {
            if donor.unanswered == UNANSWERED_LIMIT {
                let seconds = UNANSWERED_LIMIT * ASK_DONOR_MS / 1_000;
                let text = format!("has not said for {seconds} s that it gives its state: it is gone, or cut off");
                return self.give_up(&text);
            }
            donor.asked_ms = now_ms.max(1);
            donor.unanswered += 1;
            let node = donor.node;
            self.links.send(node, &Frame::AskDonor);
        }
    }

    fn give_up(&mut self, what: &str) {
        let Some(donor) = self.donor.take() else { return };
        self.contact.donor_heeds = Some(-1);
        self.together.transferred(Transfer::Hopeless(format!("the donor, {}, {what}", self.name_of(donor.node))));
    }

    /// For the server's log.
    fn name_of(&self, node: NodeId) -> String {
        match self.peers.get(&node) {
            Some(peer) => format!("{} ({})", peer.hello.name, peer.hello.address),
            None => node.to_string(),
        }
    }
}
