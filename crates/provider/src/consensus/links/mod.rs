//! Connections to the other nodes. One thread polls for events and sends frames.
//!
//! [`Links`] keeps one connection to each node that is dialled or that dials, and sends and receives frames on it. It
//! does not interpret messages. It waits only in [`Links::poll`], and starts threads only to resolve names.
//!
//! # Invariants
//!
//! - Between an [`Event::Up`] and the [`Event::Down`] of a node, its frames arrive in the order sent, without gaps.
//!   Frames that are in flight when a link ends are lost: the layer above sends them again on the next `Up`.
//! - A node has one link at a time: frames go out on the connection that its frames come from.
//! - An unidentified peer costs one read of 64 KiB and a frame of
//!   [`wire::HANDSHAKE_LIMIT_BYTES`](super::wire::HANDSHAKE_LIMIT_BYTES), with TLS twice the largest TLS handshake message
//!   (64 KiB) more, one of [`UNIDENTIFIED_PEERS_LIMIT`] slots for [`HANDSHAKE_TIMEOUT`], and
//!   a rate-limited line in the error log.
//! - No frame waits for another thread: TLS is a calculation on the polling thread, between the socket and the queue.
//!
//! # Life of a connection
//!
//! ```text
//!   dialling side          accepting side
//!   connect ────────────►  accept
//!   TLS, if the nodes have it: both show a certificate
//!   Hello ──────────────►  a common version, same cluster and history? not this node itself? may the address join?
//!                          same generation? no better connection?
//!   the same checks ◄────  Hello; the link is up there
//!   the link is up here; frames ◄──────► frames, and Keepalive when idle
//! ```
//!
//! With a secret, both sides prove that they know it before the link is up (the module `authentication`).
//!
//! A side that refuses sends the reason and closes; both sides log it. On a lineage mismatch it sends its hello first:
//! each side must compare the lineages itself (the module `lineage_check`).
//!
//! # Two connections between the same nodes
//!
//! Both nodes may dial at once. Of connections dialled by different sides, the one stays whose dialler has the smaller
//! instance id, so both sides choose the same. Of connections dialled by the same side the newer one stays: that side
//! has lost the older one. A node with a new instance id has restarted: its old link ends.
//!
//! An address of a linked node is not dialled while the link is up; an address of this node itself is never dialled
//! again.

mod admission;
mod authentication;
mod dial;
mod error;
mod handshake;
mod lineage_check;
mod log_limiter;
mod poll;
mod proof;
mod security;
mod send_queue;
mod stream;
mod timers;
mod tls_session;
mod transport;
mod version_check;
mod wake;

#[cfg(test)]
mod tests;

pub use admission::Allowlist;
pub use error::Error;
pub use security::{Error as SecurityError, Security, SecurityFiles, TlsFiles};
#[cfg(test)]
pub use version_check::link_version;
pub use wake::Waker;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::consensus::NodeId;
use crate::consensus::lineage::LineageRelation;
use crate::consensus::raft::Append;
use crate::consensus::wire::{self, Frame, Hello};
use crate::protocol::ProtocolVersion;
use admission::Admission;
use dial::DialTarget;
use log_limiter::LogLimiter;
use stream::Stream;
use wake::Wake;

/// The port of an address that names none.
pub const DEFAULT_PORT: u16 = 4567;
/// Limit of the bytes queued for one node, in addition to the largest queued frame.
pub const QUEUE_LIMIT_BYTES: usize = 64 << 20;
/// Limit of connections without a completed handshake.
pub const UNIDENTIFIED_PEERS_LIMIT: usize = 32;
/// Limit of linked nodes.
pub const LINKS_LIMIT: usize = 64;
/// Limit of dialled addresses.
pub const TARGETS_LIMIT: usize = 256;
/// Timeout of a connect.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout of a handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// A link without input for this long is closed.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// An idle link sends a keepalive at this interval.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A node is linked.
    Up(Hello),
    /// A message on a link.
    Message {
        /// The sender.
        from: NodeId,
        /// The frame.
        frame: Frame,
    },
    /// A link has ended. The last frames sent may be lost.
    Down {
        /// The node.
        node: NodeId,
        /// The reason, for the error log.
        why: String,
    },
    /// A connection failed before it became a link. For the error log; rate-limited.
    Refused {
        /// The other side.
        address: String,
        /// The reason.
        text: String,
    },
    /// A node with the same history UUID belongs to another generation. Comes each time the nodes meet, about once a
    /// second.
    LineageMismatch {
        /// How the other lineage relates to this node's; never the same.
        relation: LineageRelation,
        /// The message.
        text: String,
        /// Whether to log it; rate-limited.
        is_news: bool,
        /// The other node.
        other: Box<Hello>,
    },
    /// A [`Waker`] was used.
    Woken,
}

/// The connections of this node.
#[derive(Debug)]
pub struct Links {
    own: Hello,
    listener: TcpListener,
    /// No accept before this time: the last one failed.
    accept_paused_until: Option<Instant>,
    wake: Arc<Wake>,
    targets: BTreeMap<String, DialTarget>,
    streams: BTreeMap<u64, Stream>,
    next_stream: u64,
    /// The stream of each linked node.
    linked: BTreeMap<NodeId, u64>,
    log_limiter: LogLimiter,
    /// Events from outside of a poll.
    pending_events: Vec<Event>,
    is_isolated: bool,
    /// What a connection needs to become a link.
    security: Arc<Security>,
    /// None: every address may join.
    admission: Option<Admission>,
}

impl Links {
    /// Listens. If the own address is empty, or its port is 0, it becomes the one listened on.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub fn open(listen: &str, own: Hello) -> Result<(Self, Waker), Error> {
        let listener = dial::listen(listen)?;
        let mut own = own;
        own.address = dial::own_address(&own.address, &listener).map_err(|source| Error::listen(listen, source))?;
        let wake = Arc::new(Wake::new().map_err(|source| Error::listen(listen, source))?);
        let waker = Waker::new(&wake);
        let links = Self {
            own,
            listener,
            accept_paused_until: None,
            wake,
            targets: BTreeMap::new(),
            streams: BTreeMap::new(),
            next_stream: 0,
            linked: BTreeMap::new(),
            log_limiter: LogLimiter::default(),
            pending_events: Vec::new(),
            is_isolated: false,
            security: Arc::default(),
            admission: None,
        };
        Ok((links, waker))
    }

    /// Sets what new connections need to become links. Links that lack it end, and are made again.
    pub fn set_security(&mut self, security: Arc<Security>) {
        let lacks = |stream: &Stream| {
            security.requires_tls() && stream.transport.tls().is_none()
                || security.requires_proof() && !stream.is_authenticated
        };
        let ids: Vec<u64> = self.streams.iter().filter(|(_, stream)| lacks(stream)).map(|(id, _)| *id).collect();
        if !security.is_dynamic {
            self.targets.values_mut().for_each(|target| target.tries_unsecured = false);
        }
        self.security = security;
        for id in ids {
            self.close(id, "this node no longer links without TLS or a proof (socket.dynamic)");
        }
    }

    /// Asks the server from now on whether a node that connects may join.
    pub fn set_allowlist(&mut self, allowlist: Arc<dyn Allowlist>) {
        self.admission = Some(Admission::new(allowlist));
    }

    /// How a link is protected, for the error log.
    pub fn protection(&self, node: NodeId) -> &'static str {
        let stream = self.linked.get(&node).and_then(|id| self.streams.get(id));
        stream.map_or("no link", |stream| match (stream.transport.tls().is_some(), stream.is_authenticated) {
            (true, true) => "TLS and secret",
            (true, false) => "TLS",
            (false, true) => "secret, without TLS",
            (false, false) => "without TLS",
        })
    }

    /// The hello of this node.
    pub fn own(&self) -> &Hello {
        &self.own
    }

    /// Whether a node is linked.
    pub fn is_linked(&self, node: NodeId) -> bool {
        self.linked.contains_key(&node)
    }

    /// The linked nodes.
    #[cfg(test)]
    pub fn peers(&self) -> impl Iterator<Item = &Hello> {
        self.linked.values().filter_map(|id| self.streams.get(id)?.peer())
    }

    /// Keeps a link to the node at this address (host:port, host, or tcp://host:port) from now on.
    pub fn dial(&mut self, address: &str) {
        let address = dial::normalize(address);
        if !self.targets.contains_key(&address) && self.targets.len() < TARGETS_LIMIT {
            let target = DialTarget::new(self.own.address == address, Instant::now());
            self.targets.insert(address.clone(), target);
            self.mark_linked_targets();
        }
    }

    /// Stops dialling the address. Closes a connection that this side made there.
    pub fn hang_up(&mut self, address: &str) {
        let address = dial::normalize(address);
        self.targets.remove(&address);
        let made = self.streams.iter().find(|(_, stream)| stream.dialled.as_deref() == Some(&*address));
        if let Some(id) = made.map(|(id, _)| *id) {
            self.close(id, "this node no longer dials that address");
        }
    }

    /// The dialled addresses.
    #[cfg(test)]
    pub fn dialled(&self) -> impl Iterator<Item = &str> {
        self.targets.keys().map(String::as_str)
    }

    /// Queues a frame; it goes out with the next [`flush`](Self::flush) or [`poll`](Self::poll). False: there is no
    /// link, or its queue was full and the link has ended, so that the receiver sees no gap.
    ///
    /// # Panics
    /// An append has a different number of entries and payloads.
    pub fn send(&mut self, to: NodeId, frame: &Frame) -> bool {
        self.queue(to, |buffer, version| wire::encode(buffer, frame, version))
    }

    /// Queues an append whose payloads lie elsewhere.
    ///
    /// # Panics
    /// The number of entries and payloads differs.
    pub fn send_append<P: AsRef<[u8]>>(&mut self, to: NodeId, append: &Append, payloads: &[P]) -> bool {
        self.queue(to, |buffer, version| wire::encode_append(buffer, append, payloads, version))
    }

    fn queue(
        &mut self,
        to: NodeId,
        put: impl FnOnce(&mut Vec<u8>, ProtocolVersion) -> Result<(), wire::Error>,
    ) -> bool {
        let Some(&id) = self.linked.get(&to) else { return false };
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        let version = stream.version;
        match stream.send_queue.push(|buffer| put(buffer, version)) {
            Ok(()) => true,
            Err(why) => {
                self.close(id, &why.to_string());
                false
            }
        }
    }

    /// Bytes queued for a node: check before sending much more.
    pub fn queued_bytes(&self, to: NodeId) -> usize {
        self.linked.get(&to).and_then(|id| self.streams.get(id)).map_or(0, |stream| stream.send_queue.bytes())
    }

    /// Sends what is queued, without waiting. [`poll`](Self::poll) starts with it; the caller flushes before a long
    /// operation such as a sync.
    pub fn flush(&mut self) {
        let now = Instant::now();
        for stream in self.streams.values_mut() {
            stream.flush(now);
        }
    }

    /// Drops all connections and makes no new ones (true), or reconnects (false): `gmcast.isolate`.
    pub fn isolate(&mut self, is_isolated: bool) {
        if is_isolated == self.is_isolated {
            return;
        }
        self.is_isolated = is_isolated;
        let ids: Vec<u64> = self.streams.keys().copied().collect();
        for id in ids {
            self.close(id, "this node is isolated (gmcast.isolate)");
        }
        let now = Instant::now();
        for target in self.targets.values_mut() {
            target.schedule(now);
        }
    }
}
