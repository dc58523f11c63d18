//! Servers that stand still: the process is there, and its sockets, but nothing answers. So a node looks that swaps, or
//! whose disk hangs.

use crate::Error;
use crate::error::At;
use crate::node::{Node, State};
use crate::sandbox::Sandbox;

impl Node<'_> {
    /// Stops the server where it is (SIGSTOP), until [`Node::resume`]. Whoever asks it anything waits.
    pub fn pause(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if process.is_paused() => {
                Err(Error::Invalid(format!("{} is paused already; `resume` lets it go on", self.name())))
            }
            Some(process) => process.pause().at("pause the server of", &self.data_dir()),
            None => Err(Error::Invalid(format!("{} does not run, so there is nothing to pause", self.name()))),
        }
    }

    /// Lets the server go on (SIGCONT). In a cluster it may have been given up meanwhile; it comes back by itself.
    pub fn resume(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if process.is_paused() => process.resume().at("resume the server of", &self.data_dir()),
            _ => Err(Error::Invalid(format!("{} is not paused, but {}", self.name(), self.state()))),
        }
    }
}

impl Sandbox {
    /// Lets all servers go on that are paused; an error when none is.
    pub fn resume(&self) -> Result<(), Error> {
        let paused: Vec<_> = self.nodes().filter(|node| node.state() == State::Paused).collect();
        if paused.is_empty() {
            return Err(Error::Invalid(format!("no node of sandbox `{}` is paused", self.name())));
        }
        paused.into_iter().try_for_each(Node::resume)
    }
}
