//! The group's thread: it holds the links, the agreement and the end of the log, and goes round.
//!
//! A round: what the server's threads want; what agreement wants done, until it wants nothing more, with one sync of the log
//! for all of it; what is agreed on takes its place; what a leader sees to; then it waits for the links.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering as Atomic;
use std::time::{Duration, Instant};

use super::flow::{Flow, Held};
use super::leading::Leading;
use super::{Command, Contact, Together};
use crate::entry::{self, Stamp, Voter};
use crate::group::NodeId;
use crate::group::links::{Event, Links};
use crate::group::proposals::{Leader, Origin, Proposals, Step, Ticket};
use crate::group::raft::{Action, Append, Membership, Message, Place, Raft, Start, Term, Timing};
use crate::group::saved::Saved;
use crate::group::wire::{BATCH_LIMIT_BYTES, Frame, Hello};
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::{Error, Node, Ordering, lock};
use crate::server::Level;

/// A leader is heard at least this often; without it for one to two times the second, others stand for election.
const TIMING: Timing = Timing { heartbeat_ms: 150, election_ms: 1_000 };
/// Without a leader for so long the node is out of touch. Longer than an election takes.
pub(super) const OUT_OF_TOUCH_MS: u64 = 4_000;
/// How often a node tells its leader how it stands.
const PRESENT_MS: u64 = 300;
/// And at the earliest, if something has changed.
const PRESENT_SOON_MS: u64 = 20;
/// A round takes so much of what is agreed on before it looks at the links again.
const TAKE_LIMIT_BYTES: usize = 4 << 20;

/// How a node begins.
#[derive(Debug)]
pub(in crate::node) enum Beginning {
    /// It is a group by itself.
    Alone,
    /// As it left off.
    Again(Saved),
    /// It has no log and joins others.
    Joining,
}

/// Another node, as this one knows it.
#[derive(Debug)]
pub(super) struct Peer {
    pub hello: Hello,
    /// None: it is linked. Else since when it is not.
    pub away_since_ms: Option<u64>,
    /// What it said of itself last, and when.
    pub present: Option<(Present, u64)>,
    /// It wants to go.
    pub leaves: bool,
    /// For which request a donor was chosen.
    pub served: Option<Vec<u8>>,
}

/// How a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Present {
    pub life: Uuid,
    pub applied: i64,
    pub wants_view: bool,
    pub is_behind: bool,
    pub is_donor: bool,
}

/// The group's thread.
pub(super) struct GroupThread {
    pub(super) node: Arc<Node>,
    pub(super) together: Arc<Together>,
    pub(super) links: Links,
    pub(super) raft: Raft,
    pub(super) proposals: Proposals,
    pub(super) origin: Origin,
    /// Payloads of own proposals that are not settled.
    pub(super) payloads: HashMap<u64, Vec<u8>>,
    /// Lives of this node since the thread began.
    lives: Vec<Uuid>,
    pub(super) saved: Saved,
    pub(super) peers: BTreeMap<NodeId, Peer>,
    /// Entries up to here have taken their places. None: not yet to be taken.
    pub(super) taken: Option<Index>,
    pub(super) contact: Contact,
    /// Who decides does not stand in the log yet.
    pub(super) is_new_group: bool,
    pub(super) leading: Option<Leading>,
    pub(super) flow: Flow,
    /// Whom it chose as donors, and when.
    pub(super) donors: BTreeMap<NodeId, u64>,
    /// The end of the log is to be synced.
    has_unsafe: bool,
    /// Reads that wait for a round of heartbeats: round and ticket, and whose.
    confirms: Vec<(u64, u64, Option<NodeId>)>,
    /// Own ones that are confirmed up to there, which is not all taken yet.
    confirmed: Vec<(Index, u64)>,
    /// What is asked of a leader until it answers.
    pub(super) join: Option<Vec<u8>>,
    pub(super) asked_ms: u64,
    pub(super) leaves: bool,
    told: Option<(Present, u64)>,
    /// What agreement wanted before the thread began.
    first: Vec<Action>,
    leader_seen_ms: u64,
    /// What the leader said first that everybody agrees on.
    heard_committed: Option<Index>,
    began: Instant,
    is_over: bool,
}

/// Begins it. `address`: of the group, as the server gave it; its nodes are dialled.
pub(in crate::node) fn start(
    node: &Arc<Node>,
    cluster: &str,
    hosts: &[String],
    beginning: Beginning,
) -> Result<Arc<Together>, Error> {
    let log = node.log();
    let is_new_group = matches!(beginning, Beginning::Alone);
    let saved = match beginning {
        Beginning::Again(saved) => saved,
        Beginning::Alone => fresh(node, true)?,
        Beginning::Joining => fresh(node, false)?,
    };
    let process = Uuid::random().map_err(Error::Random)?;
    let hello = Hello {
        history: node.history(),
        node: saved.node,
        life: process,
        group: cluster.to_owned(),
        name: node.setup.name.clone(),
        incoming: node.setup.incoming.clone(),
        address: node.group_address(),
    };
    let (mut links, waker) = Links::open(&node.listen_address(), hello)?;
    let own_address = links.own().address.clone();
    for host in hosts.iter().chain(saved.voters.iter().filter(|(id, _)| **id != saved.node).map(|(_, address)| address))
    {
        links.dial(host);
    }
    links.isolate(lock(&node.options).is_isolated());
    let mut saved = saved;
    if let Some(address) = saved.voters.get_mut(&saved.node) {
        *address = own_address;
    }
    let mut raft = Raft::new(start_of(&saved, log.as_deref(), process)?, TIMING, 0);
    let mut first = Vec::new();
    if saved.voters.len() == 1 && saved.voters.contains_key(&saved.node) {
        // Nobody else can lead: there is nothing to wait for.
        raft.tick(raft.deadline_ms().unwrap_or(0), &mut first);
    }
    saved.write(&node.setup.data_dir)?;
    if let Some(log) = &log {
        // Until it is alone.
        log.set_keeps_recent(true);
    }
    let together = Arc::new(Together::new(waker, log.as_ref().map_or(Index(0), |log| log.last())));
    let contact = Contact { agreed: raft.committed(), history: node.history(), ..Contact::default() };
    let mut thread = GroupThread {
        node: Arc::clone(node),
        together: Arc::clone(&together),
        links,
        raft,
        proposals: Proposals::new(),
        origin: Origin(process.0),
        payloads: HashMap::new(),
        lives: vec![node.member()],
        saved,
        peers: BTreeMap::new(),
        taken: None,
        contact,
        is_new_group,
        leading: None,
        flow: Flow::default(),
        donors: BTreeMap::new(),
        has_unsafe: false,
        confirms: Vec::new(),
        confirmed: Vec::new(),
        join: None,
        asked_ms: 0,
        leaves: false,
        told: None,
        first,
        leader_seen_ms: 0,
        heard_committed: None,
        began: Instant::now(),
        is_over: false,
    };
    // It is the server's process: its signals are for the server's threads.
    crate::log::spawn_without_signals("hortator-group", move || {
        let faulty = std::panic::AssertUnwindSafe(&mut thread);
        let run = std::panic::catch_unwind(|| {
            let thread = faulty;
            thread.0.run();
        });
        if run.is_err() {
            thread.node.fail("a fault in the provider's group");
        }
        thread.together.end();
    })
    .map_err(Error::Thread)?;
    Ok(together)
}

fn fresh(node: &Node, votes: bool) -> Result<Saved, Error> {
    let random = Uuid::random().map_err(Error::Random)?;
    let id = NodeId(random.bits());
    let log = node.log();
    // What a log says of groups before does not count for a node that is a group by itself.
    let last = match log {
        Some(log) if log.last() >= log.first() => {
            let entries = log.entries(log.last(), 1)?;
            let term = entries.first().and_then(|(_, bytes)| entry::shape(bytes).ok()).map_or(Term(0), |(stamp, _)| stamp.term);
            Place { term, index: log.last() }
        }
        _ => Place { term: Term(0), index: Index(0) },
    };
    Ok(Saved {
        node: id,
        term: last.term,
        voted_for: None,
        committed: last.index,
        membership_at: last,
        voters: if votes { [(id, node.group_address())].into() } else { BTreeMap::new() },
    })
}

/// What agreement has to know of the log.
fn start_of(saved: &Saved, log: Option<&DiskLog>, process: Uuid) -> Result<Start, Error> {
    let membership = Membership { voters: saved.voters.keys().copied().collect() };
    let mut memberships = Vec::new();
    let settled = (!saved.voters.is_empty()).then_some((saved.membership_at.index, membership));
    let mut base = saved.membership_at;
    let (mut runs, mut last) = (Vec::new(), Index(0));
    if let Some(log) = log {
        let first = log.first();
        last = log.last();
        if first > Index(1) {
            // The term of an entry that was purged is asked for by nobody: what lies there is committed.
            base = if base.index.next() == first { base } else { Place { term: Term(0), index: Index(first.0 - 1) } };
        } else {
            base = Place { term: Term(0), index: Index(0) };
        }
        for record in log.read(first)? {
            let (index, bytes) = record?;
            let (stamp, shape) =
                entry::shape(&bytes).map_err(|error| crate::recovery::Error::Entry { index: index.0, error })?;
            if runs.last().is_none_or(|(_, term)| *term != stamp.term) {
                runs.push((index, stamp.term));
            }
            if let Some(membership) = shape.membership
                && index > saved.membership_at.index
            {
                memberships.push((index, membership));
            }
        }
    } else {
        base = Place { term: Term(0), index: Index(0) };
    }
    if let Some((index, term)) = runs.last().filter(|(_, term)| *term > saved.term) {
        return Err(Error::OldVotes { index: *index, term: *term, known: saved.term });
    }
    Ok(Start {
        id: saved.node,
        term: saved.term,
        voted_for: saved.voted_for,
        base,
        runs,
        last,
        settled,
        memberships,
        committed: saved.committed.min(last).max(base.index),
        seed: process.bits(),
    })
}

impl GroupThread {
    /// Begins agreement from what is saved and in the log.
    pub(super) fn agree_anew(&mut self) -> Result<(), Error> {
        let log = self.node.log();
        let start = start_of(&self.saved, log.as_deref(), Uuid(self.origin.0))?;
        self.raft = Raft::new(start, TIMING, self.now_ms());
        self.contact.agreed = self.raft.committed();
        Ok(())
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn own(&self) -> NodeId {
        self.saved.node
    }

    fn run(&mut self) {
        let mut events = Vec::new();
        let mut actions = std::mem::take(&mut self.first);
        self.carry_out(&mut actions, None);
        while !self.is_over {
            self.heed_commands(&mut actions);
            self.raft.tick(self.now_ms(), &mut actions);
            self.carry_out(&mut actions, None);
            self.tick_proposals(&mut actions);
            self.take_agreed(&mut actions);
            self.see_to_it(&mut actions);
            self.carry_out(&mut actions, None);
            self.tell();
            if self.is_over {
                break;
            }
            self.links.poll(self.patience(), &mut events);
            for event in events.drain(..) {
                self.heed(event, &mut actions);
            }
        }
        self.links.flush();
    }

    /// How long nothing has to be done unless something happens.
    fn patience(&self) -> Duration {
        let now = self.now_ms();
        let is_busy = !self.contact.is_alone || self.contact.is_linked || self.leaves;
        let chores = if is_busy { now + PRESENT_MS / 3 } else { now + 5_000 };
        let has_more = self.taken.is_some_and(|taken| taken < self.contact.agreed) && self.node.may_take(&self.together);
        if has_more {
            return Duration::ZERO;
        }
        let deadline = self.raft.deadline_ms().map_or(chores, |deadline| deadline.min(chores));
        Duration::from_millis(deadline.saturating_sub(now))
    }

    fn heed_commands(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        for command in self.together.commands() {
            match command {
                Command::Propose { ticket, bytes } => {
                    if let Some(held) = self.hold(Held::Own { ticket, bytes }) {
                        self.propose_own(held, &mut steps);
                    }
                }
                Command::Confirm { ticket } => self.confirm(ticket, None, actions),
                Command::Join { request } => {
                    self.join = Some(request);
                    self.asked_ms = 0;
                }
                Command::GoOnFrom(index) => self.taken = Some(Index(index.0 - 1)),
                Command::Leave => self.leaves = true,
                Command::Isolate(is_isolated) => self.links.isolate(is_isolated),
                Command::Bootstrap => self.bootstrap(actions),
                Command::Look => {}
                Command::End => self.is_over = true,
            }
        }
        self.step(steps, actions);
    }

    fn propose_own(&mut self, held: Held, steps: &mut Vec<Step>) {
        let Held::Own { ticket, bytes } = held else { return };
        self.payloads.insert(ticket, bytes);
        if self.proposals.submit(Ticket(ticket), steps).is_err() {
            self.payloads.remove(&ticket);
            self.together.waiting.refuse(ticket);
        }
    }

    /// What was held back goes into the order.
    pub(super) fn take_in(&mut self, held: Held, actions: &mut Vec<Action>) {
        match held {
            Held::Own { .. } => {
                let mut steps = Vec::new();
                self.propose_own(held, &mut steps);
                self.step(steps, actions);
            }
            Held::Forward { term, origin, number, payload, .. } => {
                let takes = self.leading.is_some() && self.raft.takes_entries();
                if takes && self.proposals.take(Origin(origin.0), term, number) {
                    self.append(payload, None, actions);
                }
            }
        }
    }

    fn tick_proposals(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        self.proposals.tick(self.now_ms(), &mut steps);
        self.step(steps, actions);
    }

    /// Does what the proposals want, and what agreement wants because of that.
    fn step(&mut self, mut steps: Vec<Step>, actions: &mut Vec<Action>) {
        while !steps.is_empty() {
            for step in std::mem::take(&mut steps) {
                match step {
                    Step::Append { ticket, term } => {
                        let bytes = self.payloads.get(&ticket.0).cloned();
                        let is_there = bytes.is_some_and(|bytes| {
                            self.raft.term() == term && self.append(bytes, None, actions).is_some()
                        });
                        if !is_there {
                            self.proposals.not_appended(ticket, &mut steps);
                        }
                    }
                    Step::Forward { ticket, to, term, number } => {
                        if let Some(payload) = self.payloads.get(&ticket.0) {
                            let payload = payload.clone();
                            let origin = Uuid(self.origin.0);
                            self.links.send(to, &Frame::Forward { term, origin, number, payload });
                        }
                    }
                    Step::Forget { ticket } => {
                        self.payloads.remove(&ticket.0);
                    }
                }
            }
            // What could not be done is not tried again at once.
            steps.retain(|step| matches!(step, Step::Forget { .. }));
        }
        self.carry_out(actions, None);
    }

    /// Puts an entry at the end of the log, as the leader. None: it does not lead, or there is no room.
    pub(super) fn append(
        &mut self,
        mut bytes: Vec<u8>,
        membership: Option<Membership>,
        actions: &mut Vec<Action>,
    ) -> Option<Index> {
        let log = self.node.log()?;
        let takes_place = entry::takes_place(&bytes);
        let seqno = self.leading.as_ref()?.appended_seqno + i64::from(takes_place);
        if !self.raft.takes_entries() || log.throttle().is_err() {
            return None;
        }
        let index = self.raft.append(&[membership], actions).ok()?;
        entry::place(&mut bytes, Stamp { seqno, term: self.raft.term() });
        match log.append(&[&bytes]) {
            Ok(at) => assert_eq!(at, index, "the log and the agreement have the same end"),
            Err(error) => {
                // Agreement counts it already: this node cannot go on.
                self.fail(&format!("the log takes nothing any more: {error}"));
                return None;
            }
        }
        if let Some(leading) = &mut self.leading {
            leading.appended_seqno = seqno;
        }
        self.has_unsafe = true;
        Some(index)
    }

    fn fail(&mut self, text: &str) {
        self.node.fail(text);
        self.is_over = true;
    }

    /// Does what agreement wants, until it wants nothing more. `arrived`: what came with an append.
    pub(super) fn carry_out(&mut self, actions: &mut Vec<Action>, mut arrived: Option<Vec<Vec<u8>>>) {
        loop {
            for action in std::mem::take(actions) {
                self.act(action, &mut arrived, actions);
                if self.is_over {
                    return;
                }
            }
            if actions.is_empty() && !self.make_safe(actions) {
                return;
            }
        }
    }

    /// One sync for all that was appended. False: there was nothing to do.
    fn make_safe(&mut self, actions: &mut Vec<Action>) -> bool {
        if !self.has_unsafe {
            return false;
        }
        self.has_unsafe = false;
        let Some(log) = self.node.log() else { return false };
        let last = self.raft.last();
        // The others write while this one does.
        self.links.flush();
        match log.commit(last.index) {
            Ok(()) => self.raft.stored(last, actions),
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
        true
    }

    fn act(&mut self, action: Action, arrived: &mut Option<Vec<Vec<u8>>>, actions: &mut Vec<Action>) {
        match action {
            Action::Persist { term, voted_for } => {
                (self.saved.term, self.saved.voted_for) = (term, voted_for);
                self.save();
            }
            Action::Truncate { from } => {
                let result = self.node.log().map_or(Ok(()), |log| log.truncate(from));
                if let Err(error) = result {
                    self.fail(&format!("the end of the log, which was not agreed on, cannot be dropped: {error}"));
                }
            }
            Action::Store { skip } => {
                let Some(log) = self.node.log() else { return };
                for bytes in arrived.take().unwrap_or_default().iter().skip(skip) {
                    if let Err(error) = log.throttle().and_then(|()| log.append(&[bytes])) {
                        self.fail(&format!("the log takes nothing any more: {error}"));
                        return;
                    }
                }
                self.has_unsafe = true;
            }
            Action::Send { to, message } => {
                self.links.send(to, &Frame::Raft { message, payloads: Vec::new() });
            }
            Action::SendEntries { to, term, before, first, upto, committed, round } => {
                self.send_entries(to, Append { term, before, committed, round, entries: Vec::new() }, first, upto);
            }
            Action::Committed { upto } => self.contact.agreed = upto,
            Action::LeaderIs { term, leader } => self.leader_is(term, leader, actions),
            Action::Lead { term } => self.lead(term, actions),
            Action::TooFarBehind { node, .. } => {
                let text = "the cluster's logs do not reach back to the end of yours".to_owned();
                self.links.send(node, &Frame::Refused { text });
            }
            Action::Confirmed { round, upto } => {
                let (ready, rest) = self.confirms.drain(..).partition(|(of, ..)| *of <= round);
                self.confirms = rest;
                let ready: Vec<(u64, u64, Option<NodeId>)> = ready;
                for (_, ticket, whose) in ready {
                    match whose {
                        None => self.confirmed.push((upto, ticket)),
                        Some(node) => {
                            self.links.send(node, &Frame::Confirmed { ticket, index: upto });
                        }
                    }
                }
            }
        }
    }

    pub(super) fn save(&mut self) {
        self.saved.committed = self.contact.agreed.max(self.saved.committed);
        if let Err(error) = self.saved.write(&self.node.setup.data_dir) {
            self.fail(&error.to_string());
        }
    }

    fn send_entries(&mut self, to: NodeId, mut append: Append, first: Index, upto: Index) {
        let Some(log) = self.node.log() else { return };
        let entries = match log.entries(first, BATCH_LIMIT_BYTES) {
            Ok(entries) => entries,
            Err(error) => {
                self.node.note(&format!("entries from {first} on cannot be sent to {to}: {error}"));
                return;
            }
        };
        let mut payloads = Vec::with_capacity(entries.len());
        for (index, bytes) in entries.into_iter().take_while(|(index, _)| *index <= upto) {
            let Ok((_, shape)) = entry::shape(&bytes) else {
                self.fail(&format!("entry {index} of the log cannot be understood"));
                return;
            };
            append.entries.push(shape);
            payloads.push(bytes);
        }
        let sent = Index(first.0 + payloads.len() as u64 - 1);
        if self.links.send_append(to, &append, &payloads) && sent < upto {
            self.raft.sent(to, sent);
        }
    }

    pub(super) fn leader_is(&mut self, term: Term, leader: Option<NodeId>, actions: &mut Vec<Action>) {
        let known = match leader {
            None => Leader::Unknown,
            Some(node) if node == self.own() => Leader::Me,
            Some(node) => Leader::Other(node),
        };
        if known != Leader::Me {
            self.leading = None;
            self.stop_being_alone();
        }
        for (_, ticket, whose) in self.confirms.drain(..) {
            if whose.is_none() {
                self.together.answer(ticket, None);
            }
        }
        self.told = None;
        self.heard_committed = None;
        let mut steps = Vec::new();
        self.proposals.leader_is(term, known, &mut steps);
        self.step(steps, actions);
    }

    fn heed(&mut self, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Up(hello) => {
                self.node.note(&format!("linked to {} ({}, {})", hello.name, hello.address, hello.node));
                let node = hello.node;
                self.links.dial(&hello.address);
                if !hello.history.is_undefined() {
                    self.contact.history = hello.history;
                }
                let peer = Peer { hello, away_since_ms: None, present: None, leaves: false, served: None };
                self.peers.insert(node, peer);
                self.stop_being_alone();
                self.raft.link_renewed(node, actions);
                self.told = None;
                let mut steps = Vec::new();
                if self.raft.leader() == Some(node) {
                    self.proposals.send_again(&mut steps);
                }
                self.step(steps, actions);
            }
            Event::Down { node, why } => {
                self.node.note(&format!("the link to {node} is down: {why}"));
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&node) {
                    peer.away_since_ms = Some(now);
                }
            }
            Event::Refused { address, text } => self.node.note(&format!("{address}: {text}")),
            Event::Woken => {}
            Event::Message { from, frame } => self.hear(from, frame, actions),
        }
        self.carry_out(actions, None);
    }

    fn hear(&mut self, from: NodeId, frame: Frame, actions: &mut Vec<Action>) {
        match frame {
            Frame::Raft { message, payloads } => {
                // Without a log there is nothing to put them into.
                let is_append = matches!(message, Message::Append(_));
                if is_append && self.node.log().is_none() {
                    return;
                }
                if is_append && payloads.iter().any(|bytes| !entry::has_head(bytes) && entry::shape(bytes).is_err()) {
                    self.node
                        .server
                        .log(Level::Warning, &format!("{from} sends entries that this release does not understand"));
                    return;
                }
                let committed = if let Message::Append(append) = &message { Some(append.committed) } else { None };
                self.raft.receive(self.now_ms(), from, message, actions);
                self.carry_out(actions, Some(payloads));
                if self.raft.leader() == Some(from) && self.heard_committed.is_none() {
                    self.heard_committed = committed;
                }
            }
            Frame::Forward { term, origin, number, payload } => {
                let is_good = entry::has_head(&payload) && entry::is_write_set(&payload);
                if is_good
                    && self.leading.is_some()
                    && let Some(held) = self.hold(Held::Forward { term, origin, number, payload })
                {
                    self.take_in(held, actions);
                }
            }
            Frame::Present { life, applied, wants_view, is_behind, is_donor } => {
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&from) {
                    peer.present = Some((Present { life, applied, wants_view, is_behind, is_donor }, now));
                }
                if self.raft.role() == crate::group::raft::Role::Leader {
                    // While it is alone, clients' threads write the log: it is known what to send from when that ends.
                    if !self.contact.is_alone {
                        self.raft.observe(from, actions);
                    }
                } else if let Some(leader) = self.raft.leader() {
                    self.point_to(from, leader);
                }
            }
            Frame::Join { request, donor, .. } => self.hear_join(from, request, donor, actions),
            Frame::BeginBehind { term, place, membership, addresses, upto } => {
                self.begin_behind(term, place, membership, addresses, upto, actions);
            }
            Frame::Leave { node } => {
                if let Some(peer) = self.peers.get_mut(&node) {
                    peer.leaves = true;
                }
            }
            Frame::Left => self.contact.has_left |= self.leaves,
            Frame::Confirm { ticket } => self.confirm(ticket, Some(from), actions),
            // Of one who does not lead any more.
            Frame::Confirmed { ticket, index: Index(0) } => self.together.answer(ticket, None),
            Frame::Confirmed { ticket, index } => self.confirmed.push((index, ticket)),
            Frame::LeaderIs { address, .. } => self.links.dial(&address),
            Frame::Refused { text } => {
                self.node.note(&format!("{from}: {text}"));
                self.contact.is_too_far_behind = true;
            }
        }
    }

    pub(super) fn point_to(&mut self, whom: NodeId, leader: NodeId) {
        if let Some(address) = self.peers.get(&leader).map(|peer| peer.hello.address.clone()) {
            self.links.send(whom, &Frame::LeaderIs { node: leader, address });
        }
    }

    /// A read that must see everything committed anywhere by now.
    fn confirm(&mut self, ticket: u64, whose: Option<NodeId>, actions: &mut Vec<Action>) {
        if let Some(round) = self.raft.confirm(actions) {
            self.confirms.push((round, ticket, whose));
            self.carry_out(actions, None);
        } else if whose.is_none() {
            let leader = self.raft.leader();
            if !leader.is_some_and(|leader| self.links.send(leader, &Frame::Confirm { ticket })) {
                self.together.answer(ticket, None);
            }
        } else if let Some(from) = whose {
            self.links.send(from, &Frame::Confirmed { ticket, index: Index(0) });
        }
    }

    /// What is agreed on takes its place.
    fn take_agreed(&mut self, actions: &mut Vec<Action>) {
        let Some(log) = self.node.log() else { return };
        let mut steps = Vec::new();
        let mut bytes_taken = 0;
        while let Some(taken) = self.taken
            && taken < self.contact.agreed
            && bytes_taken < TAKE_LIMIT_BYTES
            && !self.is_over
        {
            let entries = match log.entries(taken.next(), BATCH_LIMIT_BYTES) {
                Ok(entries) => entries,
                Err(error) => return self.fail(&format!("the log cannot be read: {error}")),
            };
            for (index, bytes) in entries {
                if index > self.contact.agreed {
                    break;
                }
                if !self.node.may_take(&self.together) {
                    bytes_taken = TAKE_LIMIT_BYTES;
                    break;
                }
                let what = match self.node.take_agreed(&self.together, index, &bytes) {
                    Ok(Some(what)) => what,
                    Ok(None) => {
                        bytes_taken = TAKE_LIMIT_BYTES;
                        break;
                    }
                    Err(_) => {
                        self.is_over = true;
                        return;
                    }
                };
                bytes_taken += bytes.len();
                self.taken = Some(index);
                let own = what.ticket.filter(|(source, _)| self.lives.contains(source)).map(|(_, ticket)| ticket);
                self.proposals.committed(what.term, own.map(Ticket), &mut steps);
                if let Some(ticket) = own {
                    self.payloads.remove(&ticket);
                }
                if let Some(voters) = what.group {
                    self.group_is(index, what.term, voters);
                }
                if let Some(below) = what.purge_below {
                    self.purge(&log, below);
                }
                if what.is_excluded {
                    self.node.note("the others count this node out");
                    self.lose_touch();
                }
            }
        }
        self.answer_confirmed();
        self.step(steps, actions);
    }

    fn answer_confirmed(&mut self) {
        let Some(taken) = self.taken else { return };
        let seqno = lock(&self.node.order).as_ref().map_or(-1, |Ordering { order, .. }| order.seqno);
        self.confirmed.retain(|(upto, ticket)| {
            let waits = *upto > taken;
            if !waits {
                self.together.answer(*ticket, Some(seqno));
            }
            waits
        });
    }

    /// Those decide from there on, and everybody agrees.
    fn group_is(&mut self, index: Index, term: Term, voters: Vec<Voter>) {
        self.saved.membership_at = Place { term, index };
        self.saved.voters = voters.into_iter().map(|voter| (voter.node, voter.address)).collect();
        self.save();
        let names: Vec<String> = self.saved.voters.values().cloned().collect();
        self.node.note(&format!("the group is {}", names.join(", ")));
        if self.leaves && !self.saved.voters.contains_key(&self.own()) {
            self.contact.has_left = true;
        }
    }

    /// Nobody who is here needs what lies below.
    fn purge(&mut self, log: &DiskLog, below: Index) {
        let followers = self
            .raft
            .progress()
            .filter(|progress| self.peers.get(&progress.node).is_some_and(|peer| peer.away_since_ms.is_none()));
        let below = followers.map(|progress| progress.matched.next()).min().map_or(below, |least| least.min(below));
        let first = log.first();
        log.purge(below);
        let base = Index(log.first().0 - 1);
        if log.first() > first
            && let Some(term) = self.raft.term_at(base)
        {
            self.raft.base_moved(Place { term, index: base });
        }
    }

    pub(super) fn lose_touch(&mut self) {
        if let Some(life) = self.node.lose_touch(&self.together) {
            self.lives.push(life);
            let proposals = &mut self.proposals;
            // Those that are on their way may come to stand in the order, and those behind them only after them.
            self.payloads.retain(|ticket, _| !proposals.give_up(Ticket(*ticket)));
        }
    }

    /// Tells the server's threads how the node stands, and the leader.
    fn tell(&mut self) {
        let now = self.now_ms();
        let leader = self.raft.leader();
        if leader.is_some() {
            self.leader_seen_ms = now;
        }
        self.contact.is_linked = self.peers.values().any(|peer| peer.away_since_ms.is_none());
        // Before that it may know less than its tables hold.
        let known = match &self.leading {
            Some(leading) => Some(leading.ready_at),
            // A leader that is new may know less than that itself, until something of its own term is agreed on.
            None => {
                let is_of_this_term = self.raft.term_at(self.contact.agreed) == Some(self.raft.term());
                self.heard_committed.filter(|_| is_of_this_term)
            }
        };
        self.contact.in_touch = leader.is_some() && known.is_some_and(|known| self.contact.agreed >= known);
        if leader.is_none() && now - self.leader_seen_ms > OUT_OF_TOUCH_MS {
            if self.node.ignores_majorities() {
                self.bootstrap(&mut Vec::new());
            } else {
                self.lose_touch();
            }
        }
        self.together.set_contact(self.contact);
        let present = self.present();
        let is_due = self.told.is_none_or(|(told, at)| {
            told.is_behind != present.is_behind
                || told != present && now - at >= PRESENT_SOON_MS
                || now - at >= PRESENT_MS
        });
        if let Some(leader) = leader.filter(|leader| *leader != self.own())
            && is_due
        {
            self.send_present(leader, present);
            self.told = Some((present, now));
        } else if leader.is_none() && is_due && self.node.log().is_some() {
            // It may have been voted out, or never been in: whoever leads sends to those who say that they are there.
            self.told = Some((present, now));
            let all: Vec<NodeId> = self.peers.keys().copied().collect();
            all.into_iter().for_each(|node| self.send_present(node, present));
        }
        self.ask_again(now);
    }

    fn send_present(&mut self, to: NodeId, present: Present) {
        let Present { life, applied, wants_view, is_behind, is_donor } = present;
        if is_behind && !self.told.is_some_and(|(told, _)| told.is_behind) {
            self.node.counters.flow_sent.add(1);
        }
        let frame = Frame::Present { life, applied, wants_view, is_behind, is_donor };
        self.links.send(to, &frame);
    }

    /// How this node stands.
    pub(super) fn present(&self) -> Present {
        let life = self.node.member();
        let is_in = lock(&self.node.order).as_ref().is_some_and(|Ordering { order, .. }| order.is_in_view(life));
        let is_settled = self.together.is_settled.load(Atomic::SeqCst) && self.taken.is_some();
        let is_near = self.taken.is_some_and(|taken| taken == self.contact.agreed) && self.node.receiving.queued() < 64;
        let wants_view = is_settled && is_near && !is_in && !self.leaves;
        let is_donor = self.node.receiving.donates.load(Atomic::SeqCst);
        Present { life, applied: self.node.turns.released(), wants_view, is_behind: self.is_behind(), is_donor }
    }
}
