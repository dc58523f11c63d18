//! What can stop an experiment.

use std::io;

/// What can stop an experiment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of the experiment can't be used.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done, with the path.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A dump of this size makes no sense.
    #[error("a dump of scale {scale} can't be made: the scale is from {smallest} to {largest}, and 1 is the whole sample")]
    Scale {
        /// What was asked for.
        scale: f64,
        /// The smallest that can be made.
        smallest: f64,
        /// The largest that can be made.
        largest: f64,
    },
}

impl Error {
    /// Gives the step's name to an I/O error: `map_err(Error::io("reading …"))`.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        |source| Self::Io { doing, source }
    }
}
