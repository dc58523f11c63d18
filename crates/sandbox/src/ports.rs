//! Free TCP ports on the loopback address.

use std::collections::HashSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::At;

/// How often the system is asked for another port when it offers one that this process has just promised.
const PORT_ATTEMPTS: usize = 100;

/// Ports promised to servers of this process: until the server binds it, the system would offer a port again.
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
        [self.sql, self.group, self.incremental_transfer, self.state_transfer]
            .iter()
            .all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
    }
}

/// `held` keeps each port bound until all are chosen, so that no two are the same.
fn free_port(held: &mut Vec<TcpListener>) -> std::io::Result<u16> {
    for _ in 0..PORT_ATTEMPTS {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        held.push(listener);
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        if promised.get_or_insert_default().insert(port) {
            return Ok(port);
        }
    }
    Err(std::io::Error::other("the system offers none that is not in use"))
}

#[cfg(test)]
mod tests {
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
}
