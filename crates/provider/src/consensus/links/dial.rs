//! Addresses: those that this node dials, with a backoff between attempts, and the one it listens on.
//!
//! A name server may take many seconds; meanwhile the cluster would give up its leader. So a separate thread resolves
//! each name, and ends when that is done. It blocks the same signals as the polling thread.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

use super::wake::Wake;
use super::{DEFAULT_PORT, Error};
use crate::identity::Uuid;

/// The first backoff between attempts; it doubles.
const MIN_BACKOFF: Duration = Duration::from_millis(100);
/// The longest backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(1);
/// A link of this age resets the backoff.
const STABLE_LINK_AGE: Duration = Duration::from_secs(2);
/// A name is resolved again after this long, if none of its addresses worked.
const RESOLVE_INTERVAL: Duration = Duration::from_secs(5);

/// State of a dialled address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialState {
    /// Dial at this time.
    Waiting(Instant),
    /// The name is being resolved.
    Resolving,
    /// A connection is being made, or is a link.
    InUse,
    /// The node at this address, with this instance id, is linked by another connection.
    LinkedElsewhere(Uuid),
    /// The address leads to this node.
    Own,
}

/// An address that this node dials.
#[derive(Debug)]
pub(super) struct DialTarget {
    pub state: DialState,
    /// The instance that answered there last.
    pub instance_id: Option<Uuid>,
    /// The next connection is made without TLS and proof: the node there has refused them, and this node is dynamic.
    pub tries_unsecured: bool,
    backoff: Duration,
    /// The addresses of the name, and when they were resolved.
    addresses: Vec<SocketAddr>,
    resolved_at: Option<Instant>,
    resolver: Option<Receiver<io::Result<Vec<SocketAddr>>>>,
    /// Index of the address to try next.
    next_address: usize,
}

impl DialTarget {
    pub fn new(is_own: bool, now: Instant) -> Self {
        Self {
            state: if is_own { DialState::Own } else { DialState::Waiting(now) },
            instance_id: None,
            tries_unsecured: false,
            backoff: MIN_BACKOFF,
            addresses: Vec::new(),
            resolved_at: None,
            resolver: None,
            next_address: 0,
        }
    }

    /// Dials at that time, whatever the state.
    pub fn schedule(&mut self, when: Instant) {
        if !matches!(self.state, DialState::Own | DialState::Resolving) {
            self.state = DialState::Waiting(when);
            self.backoff = MIN_BACKOFF;
        }
    }

    /// The connection has ended: a link of this age, or none.
    pub fn on_failed(&mut self, lived: Option<Duration>, now: Instant) {
        if self.state == DialState::Own {
            return;
        }
        if lived.is_some_and(|lived| lived >= STABLE_LINK_AGE) {
            self.backoff = MIN_BACKOFF;
        }
        self.state = DialState::Waiting(now + self.backoff);
        self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
    }

    /// The node there refuses: uses the longest backoff.
    pub fn on_rejected(&mut self) {
        self.backoff = MAX_BACKOFF;
    }

    /// Starts to connect to the next address of the name, or to resolve the name.
    pub fn connect_next(&mut self, address: &str, wake: &Arc<Wake>, now: Instant) -> io::Result<Option<TcpStream>> {
        if self.next_address >= self.addresses.len() {
            self.next_address = 0;
            let is_old = self.resolved_at.is_none_or(|then| now.saturating_duration_since(then) >= RESOLVE_INTERVAL);
            if let Ok(place) = address.parse() {
                self.addresses = vec![place];
            } else if is_old || self.addresses.is_empty() {
                self.resolved_at = Some(now);
                self.resolver = Some(resolve(address.to_owned(), Arc::clone(wake))?);
                self.state = DialState::Resolving;
                return Ok(None);
            }
        }
        let place = self.addresses[self.next_address];
        self.next_address += 1;
        self.state = DialState::InUse;
        start_connect(place).map(Some)
    }

    /// Takes the resolver's result, if there is one.
    pub fn poll_resolver(&mut self, now: Instant) -> io::Result<()> {
        let Some(answer) = &self.resolver else { return Ok(()) };
        let answer = match answer.try_recv() {
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => Err(io::Error::other("the name lookup failed")),
            Ok(Ok(addresses)) if addresses.is_empty() => Err(io::Error::other("the name has no address")),
            Ok(answer) => answer,
        };
        self.resolver = None;
        self.state = DialState::Waiting(if answer.is_ok() { now } else { now + RESOLVE_INTERVAL });
        self.addresses = answer?;
        Ok(())
    }

    /// The last address was right: the next attempt starts with it.
    pub fn on_answered(&mut self) {
        self.next_address = self.next_address.saturating_sub(1);
    }
}

fn resolve(address: String, wake: Arc<Wake>) -> io::Result<Receiver<io::Result<Vec<SocketAddr>>>> {
    let (sender, receiver) = channel();
    let work = move || {
        // The receiver is gone if the address was dropped meanwhile.
        let _ = sender.send(address.to_socket_addrs().map(Iterator::collect));
        wake.wake();
    };
    std::thread::Builder::new().name("hortator-lookup".to_owned()).spawn(work)?;
    Ok(receiver)
}

fn start_connect(place: SocketAddr) -> io::Result<TcpStream> {
    let family = if place.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &place) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

/// The address without a scheme, with a port.
pub(super) fn normalize(address: &str) -> String {
    let address = address.trim();
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let after_host = address.rfind(']').map_or(0, |end| end + 1);
    match address[after_host..].matches(':').count() {
        0 => format!("{address}:{DEFAULT_PORT}"),
        1 => address.to_owned(),
        _ => format!("[{address}]:{DEFAULT_PORT}"),
    }
}

pub(super) fn listen(address: &str) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind(normalize(address)).map_err(|source| Error::listen(address, source))?;
    listener.set_nonblocking(true).map_err(|source| Error::listen(address, source))?;
    Ok(listener)
}

/// The address that other nodes are told: the given one, with the port that the system chose if none was given.
pub(super) fn own_address(given: &str, listener: &TcpListener) -> io::Result<String> {
    let listens = listener.local_addr()?;
    if given.trim().is_empty() {
        return Ok(listens.to_string());
    }
    let given = normalize(given);
    Ok(match given.strip_suffix(":0") {
        Some(host) => format!("{host}:{}", listens.port()),
        None => given,
    })
}
