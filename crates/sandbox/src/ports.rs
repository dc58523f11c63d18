//! Free TCP ports on the loopback address.
//!
//! They are below the range of ephemeral ports, from which the system assigns ports to outgoing connections: a node
//! that restarts must find its ports free, since the others know its address; and a process that connects to the port
//! of a node that is down could by chance get that very port, and would then be connected to itself.

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

/// The number of attempts when a port is in use or reserved.
const PORT_ATTEMPTS: usize = 200;
/// The number of bind attempts before a port counts as in use, and the pause between them.
const BIND_ATTEMPTS: u32 = 10;
const BIND_PAUSE: Duration = Duration::from_millis(20);
/// Below are the ports of well-known services.
const LOWEST: u16 = 10_000;
/// The file with the ephemeral port range (ip(7)).
const OUTGOING_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// The default start of that range.
const OUTGOING_FIRST: u16 = 32_768;
/// If fewer ports than this are available, the system chooses a port from its own range.
const RANGE_SIZE_MIN: u16 = 1_000;

/// Ports reserved for servers of this process: until the server binds it, a port would seem free again.
static RESERVED: Mutex<Option<HashSet<u16>>> = Mutex::new(None);

/// The ports of one node, all on 127.0.0.1. Only `sql` is used outside of Galera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// The port for clients.
    pub sql: u16,
    /// The port for messages between the nodes of a cluster.
    pub group: u16,
    /// The port on which a joiner receives missing write sets (IST).
    pub incremental_transfer: u16,
    /// The port on which a joiner receives a full copy (SST).
    pub state_transfer: u16,
}

/// Where the other nodes of a cluster reach a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) address: String,
    pub(crate) ports: Ports,
}

impl Ports {
    /// Four ports that are free now. Another program may still take one before the server binds it.
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

/// Whether no process listens on `port`. A child process that another thread is just starting holds, until its exec, a
/// copy of every listener of this process, even of closed ones: so one failed attempt is not enough.
fn is_free(port: u16) -> bool {
    (0..BIND_ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            thread::sleep(BIND_PAUSE);
        }
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}

/// `held` keeps each port bound until all are chosen, so that no two are equal.
fn free_port(held: &mut Vec<TcpListener>) -> std::io::Result<u16> {
    let range = fs::read_to_string(OUTGOING_RANGE).ok();
    let end = range.and_then(|range| range.split_whitespace().next()?.parse().ok()).unwrap_or(OUTGOING_FIRST);
    for _ in 0..PORT_ATTEMPTS {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, random_port(end))) else { continue };
        let port = listener.local_addr()?.port();
        held.push(listener);
        let mut promised = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
        if promised.get_or_insert_default().insert(port) {
            return Ok(port);
        }
    }
    Err(std::io::Error::other(format!("{PORT_ATTEMPTS} ports are in use")))
}

/// A port below `end`; 0 for the system's choice, if there is little room.
fn random_port(end: u16) -> u16 {
    let choice = end.saturating_sub(LOWEST);
    if choice < RANGE_SIZE_MIN {
        return 0;
    }
    // Every new state of the hasher is random.
    let random = RandomState::new().build_hasher().finish() % u64::from(choice);
    LOWEST + u16::try_from(random).expect("the remainder of a division by a u16 fits a u16")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn ports_differ_and_are_free_until_a_process_listens() {
        let first = Ports::free().unwrap();
        let second = Ports::free().unwrap();
        let numbers = [first, second].map(|p| [p.sql, p.group, p.incremental_transfer, p.state_transfer]).concat();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 8);
        assert!(first.are_free());
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, first.group)).unwrap();
        assert!(!first.are_free());
    }

    /// Seen in CI: one of our own ports seemed in use, because a parallel test was starting a program.
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
    fn ports_are_below_the_ephemeral_range() {
        assert!((0..1000).map(|_| random_port(12_000)).all(|port| (10_000..12_000).contains(&port)));
        assert_eq!(random_port(10_500), 0);
    }
}
