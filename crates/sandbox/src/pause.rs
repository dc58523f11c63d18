//! Pausing servers: the process and its sockets exist, but nothing answers. A node that swaps, or whose disk hangs,
//! looks the same.

use crate::Error;
use crate::node::{Node, State};
use crate::sandbox::Sandbox;
use crate::witness::Witness;

impl Node<'_> {
    /// Stops the server's process (SIGSTOP) until [`Node::resume`]. Its clients wait.
    pub fn pause(self) -> Result<(), Error> {
        self.server_process().pause()
    }

    /// Continues the server's process (SIGCONT). Its cluster may have removed the node meanwhile; it rejoins by itself.
    pub fn resume(self) -> Result<(), Error> {
        self.server_process().resume()
    }
}

impl Sandbox {
    /// Resumes all paused servers; an error when no server is paused.
    pub fn resume(&self) -> Result<(), Error> {
        let paused: Vec<_> = self.nodes().filter(|node| node.state() == State::Paused).collect();
        let witness = self.witness().filter(|witness| witness.state() == State::Paused);
        witness.map_or(Ok(()), Witness::resume)?;
        if paused.is_empty() && witness.is_none() {
            return Err(Error::Invalid(format!("no node of sandbox `{}` is paused", self.name())));
        }
        paused.into_iter().try_for_each(Node::resume)
    }
}
