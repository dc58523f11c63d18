//! Connections to the other nodes: one thread asks for what happened and says what to send.
//!
//! [`Links`] keeps one connection to each node that is dialled or that calls, and sends and receives frames on it. It knows
//! nothing of what they say. It never waits but in [`Links::poll`], and has no thread of its own but while a name is looked up.
//!
//! # What always holds
//!
//! - Between an [`Event::Up`] and the [`Event::Down`] of a node, its frames come in the order in which it sent them, and none
//!   is missing between two that came. What was sent and not received when a link ends is lost: the layer above sends it
//!   again on the next `Up`.
//! - A node has one link at a time: what is sent goes over the connection that its frames come from.
//! - What a stranger sends costs [`wire::GREETING_LIMIT_BYTES`](super::wire::GREETING_LIMIT_BYTES), one of
//!   [`STRANGERS_LIMIT`] places for [`GREETING_LIMIT`], and a line in the server's log now and then.
//!
//! # A connection's life
//!
//! ```text
//!   dialling side          accepting side
//!   connect ────────────►  accept
//!   Hello ──────────────►  same version, cluster, history and generation? not this node itself? no better connection?
//!   the same questions ◄─  Hello; it is up there
//!   it is up here; frames ◄──────► frames, and Alive when there is nothing else to say
//! ```
//!
//! A side that says no sends the reason and closes; both sides put it into their log. Where it is the generation, it says hello
//! before: each side has to know by itself how its group stands to the other's (the module `kin`).
//!
//! # Two connections between the same two
//!
//! Both may dial at once. Of connections dialled by different sides the one is kept whose dialler's life (a random number
//! for each process) is smaller, so both sides choose the same. Of those dialled by the same side the newer one is kept:
//! that side has lost the older one. A node under a new life is one that started anew: its old link ends.
//!
//! An address that leads to a node that is linked already is not dialled while that link lives; one that leads to this
//! node itself never again.

mod dial;
mod error;
mod greeting;
mod kin;
mod notes;
mod outgoing;
mod stream;
mod timers;
mod turn;
mod wake;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use wake::Waker;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::group::NodeId;
use crate::group::descent::Kinship;
use crate::group::raft::Append;
use crate::group::wire::{self, Frame, Hello};
use dial::Target;
use notes::Notes;
use stream::Stream;
use wake::Wake;

/// Where a node listens that names no port.
pub const DEFAULT_PORT: u16 = 4567;
/// What may wait to be sent to one node, besides the largest frame that waits.
pub const QUEUE_LIMIT_BYTES: usize = 64 << 20;
/// Connections that have not said who they are.
pub const STRANGERS_LIMIT: usize = 32;
/// Nodes that may be linked.
pub const LINKS_LIMIT: usize = 64;
/// Addresses that may be dialled.
pub const TARGETS_LIMIT: usize = 256;
/// How long a connection may take to be made.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How long a connection may be without saying who it is.
pub const GREETING_LIMIT: Duration = Duration::from_secs(5);
/// How long a node may say nothing.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(5);
/// After this long without anything to say it says so.
pub const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A node is linked.
    Up(Hello),
    /// It said something.
    Message {
        /// That node.
        from: NodeId,
        /// What.
        frame: Frame,
    },
    /// A node is no longer linked. What it was sent last may not have arrived.
    Down {
        /// That node.
        node: NodeId,
        /// For the server's log.
        why: String,
    },
    /// A connection was not made, or not kept, before it was a link. For the server's log; not every time.
    Refused {
        /// The other side.
        address: String,
        /// Why.
        text: String,
    },
    /// A node was met whose group and this one's came of one and are two. It comes whenever they meet, which is once a second.
    Apart {
        /// How the other's stands to this one's; never the same.
        kinship: Kinship,
        /// What there is to say of it.
        text: String,
        /// For the server's log; not every time.
        is_news: bool,
    },
    /// Some [`Waker`] was used.
    Woken,
}

/// The connections of this node.
#[derive(Debug)]
pub struct Links {
    own: Hello,
    listener: TcpListener,
    /// Until then nothing is accepted: the system could not.
    deaf_until: Option<Instant>,
    wake: Arc<Wake>,
    targets: BTreeMap<String, Target>,
    streams: BTreeMap<u64, Stream>,
    next_stream: u64,
    /// The stream of each linked node.
    linked: BTreeMap<NodeId, u64>,
    notes: Notes,
    /// What happened outside of a poll.
    waiting: Vec<Event>,
    is_isolated: bool,
}

impl Links {
    /// Listens. An own address that is empty, or whose port is 0, becomes the one listened on.
    ///
    /// # Errors
    /// When nothing can listen there.
    pub fn open(listen: &str, own: Hello) -> Result<(Self, Waker), Error> {
        let listener = dial::listen(listen)?;
        let mut own = own;
        own.address = dial::own_address(&own.address, &listener).map_err(|source| Error::listen(listen, source))?;
        let wake = Arc::new(Wake::new().map_err(|source| Error::listen(listen, source))?);
        let waker = Waker::new(&wake);
        let links = Self {
            own,
            listener,
            deaf_until: None,
            wake,
            targets: BTreeMap::new(),
            streams: BTreeMap::new(),
            next_stream: 0,
            linked: BTreeMap::new(),
            notes: Notes::default(),
            waiting: Vec::new(),
            is_isolated: false,
        };
        Ok((links, waker))
    }

    /// Who this node says it is.
    pub fn own(&self) -> &Hello {
        &self.own
    }

    /// Whether a node is linked.
    pub fn is_linked(&self, node: NodeId) -> bool {
        self.linked.contains_key(&node)
    }

    /// Who is linked.
    #[cfg(test)]
    pub fn peers(&self) -> impl Iterator<Item = &Hello> {
        self.linked.values().filter_map(|id| self.streams.get(id)?.peer())
    }

    /// From now on there shall be a link to whoever is at that address (host:port, host, or tcp://host:port).
    pub fn dial(&mut self, address: &str) {
        let address = dial::plain(address);
        if !self.targets.contains_key(&address) && self.targets.len() < TARGETS_LIMIT {
            let target = Target::new(self.own.address == address, Instant::now());
            self.targets.insert(address.clone(), target);
            self.serve_targets();
        }
    }

    /// That is no longer so. A connection that this side made there is closed.
    pub fn hang_up(&mut self, address: &str) {
        let address = dial::plain(address);
        self.targets.remove(&address);
        let made = self.streams.iter().find(|(_, stream)| stream.dialled.as_deref() == Some(&*address));
        if let Some(id) = made.map(|(id, _)| *id) {
            self.end(id, "this node keeps no connection to that address any more");
        }
    }

    /// Which addresses are dialled.
    #[cfg(test)]
    pub fn dialled(&self) -> impl Iterator<Item = &str> {
        self.targets.keys().map(String::as_str)
    }

    /// Queues a frame; it goes out with the next [`flush`](Self::flush) or [`poll`](Self::poll). False: there is no link, or its
    /// queue was full and the link has ended, so that nothing is missing inside of what the node receives.
    ///
    /// # Panics
    /// When an append has not one payload for each entry.
    pub fn send(&mut self, to: NodeId, frame: &Frame) -> bool {
        self.queue(to, |buffer| wire::encode(buffer, frame))
    }

    /// The same for an append whose payloads lie elsewhere.
    ///
    /// # Panics
    /// When there is not one payload for each entry.
    pub fn send_append<P: AsRef<[u8]>>(&mut self, to: NodeId, append: &Append, payloads: &[P]) -> bool {
        self.queue(to, |buffer| wire::encode_append(buffer, append, payloads))
    }

    fn queue(&mut self, to: NodeId, put: impl FnOnce(&mut Vec<u8>) -> Result<(), wire::Error>) -> bool {
        let Some(&id) = self.linked.get(&to) else { return false };
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        match stream.outgoing.push(put) {
            Ok(()) => true,
            Err(why) => {
                self.end(id, &why.to_string());
                false
            }
        }
    }

    /// What is queued for a node and has not gone out: to be looked at before much more is sent.
    pub fn queued_bytes(&self, to: NodeId) -> usize {
        self.linked.get(&to).and_then(|id| self.streams.get(id)).map_or(0, |stream| stream.outgoing.bytes())
    }

    /// Sends what is queued, as far as that goes without waiting. [`poll`](Self::poll) begins with it; before something that
    /// takes long, like a sync, the caller does.
    pub fn flush(&mut self) {
        let now = Instant::now();
        for stream in self.streams.values_mut() {
            stream.flush(now);
        }
    }

    /// As if the cable were pulled (true), and put back (false): `gmcast.isolate`.
    pub fn isolate(&mut self, is_isolated: bool) {
        if is_isolated == self.is_isolated {
            return;
        }
        self.is_isolated = is_isolated;
        let ids: Vec<u64> = self.streams.keys().copied().collect();
        for id in ids {
            self.end(id, "this node is isolated (gmcast.isolate)");
        }
        let now = Instant::now();
        for target in self.targets.values_mut() {
            target.again_at(now);
        }
    }
}
