//! Errors of opening the links.

use std::io;

/// An error of opening the links.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened on.
    #[error(
        "cannot listen for other nodes on `{address}` ({source}): set gmcast.listen_addr to a free address of this \
         machine"
    )]
    Listen {
        /// The address.
        address: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn listen(address: &str, source: io::Error) -> Self {
        Self::Listen { address: address.to_owned(), source }
    }
}
