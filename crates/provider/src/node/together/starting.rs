//! How the group's thread begins: from what is saved, and from the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::flow::Flow;
use super::thread::GroupThread;
use super::{Contact, Together};
use crate::entry;
use crate::group::NodeId;
use crate::group::descent::Descent;
use crate::group::links::Links;
use crate::group::proposals::{Origin, Proposals};
use crate::group::raft::{Membership, Place, Raft, Start, Term, Timing};
use crate::group::saved::Saved;
use crate::group::wire::Hello;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::{Error, Node, lock};

/// A leader is heard at least this often; without it for one to two times the second, others stand for election.
const TIMING: Timing = Timing { heartbeat_ms: 150, election_ms: 1_000 };

/// How a node begins.
#[derive(Debug)]
pub(in crate::node) enum Beginning {
    /// It is a group by itself.
    Alone,
    /// As it left off.
    Again(Box<Saved>),
    /// It has no log and joins others.
    Joining,
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
        Beginning::Again(saved) => *saved,
        Beginning::Alone => fresh(node, true)?,
        Beginning::Joining => fresh(node, false)?,
    };
    let mut saved = saved;
    if saved.descent.is_unknown() && !saved.voters.is_empty() {
        saved.descent = Descent::of_history(node.history());
    }
    let process = Uuid::random().map_err(Error::Random)?;
    let hello = Hello {
        history: node.history(),
        descent: saved.descent,
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
    node.set_descent(saved.descent);
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
        hosts: hosts.to_vec(),
        taken: None,
        looked_to: Index(0),
        applied: 0,
        contact,
        is_new_group,
        leading: None,
        flow: Flow::default(),
        donors: BTreeMap::new(),
        has_unsafe: false,
        confirms: Vec::new(),
        confirmed: Vec::new(),
        wants: None,
        donor: None,
        refused: String::new(),
        asked_ms: 0,
        held_since_ms: None,
        leaves: false,
        told: None,
        first,
        leader_seen_ms: 0,
        left_out: None,
        had_clients: false,
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
        let together = Arc::clone(&thread.together);
        // Whoever waits for the end may want the port again.
        drop(thread);
        together.end();
    })
    .map_err(Error::Thread)?;
    Ok(together)
}

fn fresh(node: &Node, votes: bool) -> Result<Saved, Error> {
    let random = Uuid::random().map_err(Error::Random)?;
    let id = NodeId(random.bits());
    let log = node.log();
    // What a log says of groups before does not count for a node that is a group by itself.
    let last = match &log {
        Some(log) if log.last() >= log.first() => {
            let entries = log.entries(log.last(), 1)?;
            let term = entries
                .first()
                .and_then(|(_, bytes)| entry::shape(bytes).ok())
                .map_or(Term(0), |(stamp, _)| stamp.term);
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
        descent: if votes { node.begin_generation(log.as_deref())? } else { Descent::UNKNOWN },
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
}
