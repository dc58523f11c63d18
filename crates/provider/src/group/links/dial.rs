//! Addresses: those that are dialled, with pauses between attempts, and the one listened on.
//!
//! A name server may take many seconds, in which a leader would be given up. So names are looked up on a thread of their own,
//! which lives as long as that takes. It takes no signals when the polling thread takes none.

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

/// The first pause between attempts; it doubles.
const PAUSE_LEAST: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_LIMIT: Duration = Duration::from_secs(1);
/// A link that lived this long makes the next pause a short one.
const PROVEN_AFTER: Duration = Duration::from_secs(2);
/// A name is looked up again after this long, when no address that it had was any good.
const LOOK_UP_EVERY: Duration = Duration::from_secs(5);

/// What becomes of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// To be dialled then.
    Waits(Instant),
    /// Its name is being looked up.
    LooksUp,
    /// A connection to it is being made, or is a link.
    Busy,
    /// The node there, with this life, is linked in another way.
    Served(Uuid),
    /// It leads to this node.
    Own,
}

/// An address that is dialled.
#[derive(Debug)]
pub(super) struct Target {
    pub standing: Standing,
    /// Who answered there last.
    pub life: Option<Uuid>,
    pause: Duration,
    /// What the name means, and since when.
    places: Vec<SocketAddr>,
    looked_up: Option<Instant>,
    answer: Option<Receiver<io::Result<Vec<SocketAddr>>>>,
    /// The next of them.
    turn: usize,
}

impl Target {
    pub fn new(is_own: bool, now: Instant) -> Self {
        Self {
            standing: if is_own { Standing::Own } else { Standing::Waits(now) },
            life: None,
            pause: PAUSE_LEAST,
            places: Vec::new(),
            looked_up: None,
            answer: None,
            turn: 0,
        }
    }

    /// Dials it then, whatever was.
    pub fn again_at(&mut self, when: Instant) {
        if !matches!(self.standing, Standing::Own | Standing::LooksUp) {
            self.standing = Standing::Waits(when);
            self.pause = PAUSE_LEAST;
        }
    }

    /// Its connection has ended, a link for so long or none.
    pub fn failed(&mut self, lived: Option<Duration>, now: Instant) {
        if self.standing == Standing::Own {
            return;
        }
        if lived.is_some_and(|lived| lived >= PROVEN_AFTER) {
            self.pause = PAUSE_LEAST;
        }
        self.standing = Standing::Waits(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_LIMIT);
    }

    /// There is no use in hurrying.
    pub fn rejected(&mut self) {
        self.pause = PAUSE_LIMIT;
    }

    /// Begins to connect to the next place that the name means, or to look the name up.
    pub fn advance(&mut self, address: &str, wake: &Arc<Wake>, now: Instant) -> io::Result<Option<TcpStream>> {
        if self.turn >= self.places.len() {
            self.turn = 0;
            let is_old = self.looked_up.is_none_or(|then| now.saturating_duration_since(then) >= LOOK_UP_EVERY);
            if let Ok(place) = address.parse() {
                self.places = vec![place];
            } else if is_old || self.places.is_empty() {
                self.looked_up = Some(now);
                self.answer = Some(look_up(address.to_owned(), Arc::clone(wake))?);
                self.standing = Standing::LooksUp;
                return Ok(None);
            }
        }
        let place = self.places[self.turn];
        self.turn += 1;
        self.standing = Standing::Busy;
        begin_to_connect(place).map(Some)
    }

    /// Takes what the name was found to mean, if it has been.
    pub fn take_answer(&mut self, now: Instant) -> io::Result<()> {
        let Some(answer) = &self.answer else { return Ok(()) };
        let answer = match answer.try_recv() {
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => Err(io::Error::other("looking up its name failed")),
            Ok(Ok(places)) if places.is_empty() => Err(io::Error::other("its name has no address")),
            Ok(answer) => answer,
        };
        self.answer = None;
        self.standing = Standing::Waits(if answer.is_ok() { now } else { now + LOOK_UP_EVERY });
        self.places = answer?;
        Ok(())
    }

    /// The last place was the right one: the next attempt begins with it.
    pub fn answered(&mut self) {
        self.turn = self.turn.saturating_sub(1);
    }
}

fn look_up(address: String, wake: Arc<Wake>) -> io::Result<Receiver<io::Result<Vec<SocketAddr>>>> {
    let (sender, receiver) = channel();
    let work = move || {
        // Nobody waits for it when the address was hung up meanwhile.
        let _ = sender.send(address.to_socket_addrs().map(Iterator::collect));
        wake.wake();
    };
    std::thread::Builder::new().name("hortator-lookup".to_owned()).spawn(work)?;
    Ok(receiver)
}

fn begin_to_connect(place: SocketAddr) -> io::Result<TcpStream> {
    let family = if place.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &place) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

/// An address without its scheme and with a port.
pub(super) fn plain(address: &str) -> String {
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
    let listener = TcpListener::bind(plain(address)).map_err(|source| Error::listen(address, source))?;
    listener.set_nonblocking(true).map_err(|source| Error::listen(address, source))?;
    Ok(listener)
}

/// What other nodes are told: what was given, with the port that the system chose where none was.
pub(super) fn own_address(given: &str, listener: &TcpListener) -> io::Result<String> {
    let listens = listener.local_addr()?;
    if given.trim().is_empty() {
        return Ok(listens.to_string());
    }
    let given = plain(given);
    Ok(match given.strip_suffix(":0") {
        Some(host) => format!("{host}:{}", listens.port()),
        None => given,
    })
}
