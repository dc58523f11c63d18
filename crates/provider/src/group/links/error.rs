//! Why there are no links at all.

use std::io;

/// An error of opening.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing can listen there.
    #[error(
        "cannot listen for other nodes on `{address}` ({source}): give a free address of this machine by gmcast.listen_addr"
    )]
    Listen {
        /// The address asked for.
        address: String,
        /// The system's word.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn listen(address: &str, source: io::Error) -> Self {
        Self::Listen { address: address.to_owned(), source }
    }
}
