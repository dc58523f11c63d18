//! Free TCP ports on the loopback address.
//!
//! They are taken from below the range out of which the system gives outgoing connections theirs: a node that is down for a
//! moment must find its ports free when it comes back, since the others know its address; and whoever knocks at the port of
//! a node that is down could by chance be given that very port, and would then be connected to itself.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::At;

/// How often another port is tried when one is in use or promised.
const PORT_ATTEMPTS: usize = 200;
/// How often a port is tried before it counts as taken, and the pause between.
const BIND_ATTEMPTS: u32 = 10;
const BIND_PAUSE: Duration = Duration::from_millis(20);
/// Below are those of well-known services.
const LOWEST: u16 = 10_000;
/// Where the range of outgoing connections begins (ip(7)).
const OUTGOING_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// Where it begins unless somebody changed it.
const OUTGOING_FIRST: u16 = 32_768;
/// A system with fewer than this between the two gets ports out of its own range.
const LEAST_CHOICE: u16 = 1_000;

/// Ports promised to servers of this process: until the server binds it, a port would seem free again.
static PROMISED: Mutex<Option<HashSet<u16>>> = Mutex::new(None);

/// The ports of one node, all on 127.0.0.1. Only `sql` is used outside of Galera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// Clients connect here.
    pub sql: u16,
    /// The nodes of a cluster talk to each other here.
    pub group: u16,
    /// A joiner receives the missing write sets here (IST).
    pub incremental_transfer: u16,
    /// A joiner receives a whole copy here (SST).
    pub state_transfer: u16,
}

impl Ports {
    /// Four ports that are free now. Another program may still take one before the server does.
    pub(crate) fn free() -> Result<Ports, Error> {
        let mut held = Vec::new();
        let mut next = || free_port(&mut held).at("find a free port on", Path::new("127.0.0.1"));
        Ok(Ports { sql: next()?, group: next()?, incremental_transfer: next()?, state_transfer: next()? })
    }

    /// Whether all of them can be bound now.
    pub(crate) fn are_free(self) -> bool {
        [self.sql, self.group, self.incremental_transfer, self.state_transfer].into_iter().all(is_free)
    }
}

/// Whether nobody listens at `port`. A program that another thread is just starting holds, until it runs, a copy of every
/// listener that this process has, also of one that is closed meanwhile: so once is not enough to say no.
fn is_free(port: u16) -> bool {
    (0..BIND_ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            thread::sleep(BIND_PAUSE);
        }
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}

/// `held` keeps each port bound until all are chosen, so that no two are the same.
fn free_port(held: &mut Vec<TcpListener>) -> std::io::Result<u16> {
    let range = fs::read_to_string(OUTGOING_RANGE).ok();
    let end = range.and_then(|range| range.split_whitespace().next()?.parse().ok()).unwrap_or(OUTGOING_FIRST);
    for _ in 0..PORT_ATTEMPTS {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, random_port(end))) else { continue };
        let port = listener.local_addr()?.port();
        held.push(listener);
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        if promised.get_or_insert_default().insert(port) {
            return Ok(port);
        }
    }
    Err(std::io::Error::other(format!("{PORT_ATTEMPTS} that were tried are in use")))
}

/// From below `end`; 0, the system's choice, where there is little room.
fn random_port(end: u16) -> u16 {
    let choice = end.saturating_sub(LOWEST);
    if choice < LEAST_CHOICE {
        return 0;
    }
    // Every state of the hasher is a new random one.
    let random = RandomState::new().build_hasher().finish() % u64::from(choice);
    LOWEST + u16::try_from(random).expect("what is left of a division by a u16 fits one")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn ports_differ_and_are_free_until_somebody_listens() {
        let first = Ports::free().unwrap();
        let second = Ports::free().unwrap();
        let numbers = [first, second].map(|p| [p.sql, p.group, p.incremental_transfer, p.state_transfer]).concat();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 8);
        assert!(first.are_free());
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, first.group)).unwrap();
        assert!(!first.are_free());
    }

    /// As CI met it: a port of our own seemed taken, because a test beside this one was starting a program.
    #[test]
    fn a_program_that_is_just_starting_takes_no_port() {
        let starting = thread::spawn(|| (0..200).all(|_| Command::new("true").status().is_ok()));
        let ports = Ports::free().unwrap();
        while !starting.is_finished() {
            assert!(ports.are_free());
        }
        assert!(starting.join().unwrap());
    }

    #[test]
    fn ports_are_below_those_of_outgoing_connections() {
        assert!((0..1000).map(|_| random_port(12_000)).all(|port| (10_000..12_000).contains(&port)));
        assert_eq!(random_port(10_500), 0);
    }
}
