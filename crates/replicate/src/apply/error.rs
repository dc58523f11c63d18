//! What stops a source at the target.

use super::applier::LargeTransaction;
use crate::binlog;

/// Why a transaction was not applied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target refused something, or the connection is lost.
    #[error("{doing}: {error}")]
    Target {
        /// What was under way, with the place in the source's log.
        doing: String,
        /// The target's answer.
        error: hortator_mysql::Error,
    },

    /// The target cannot be used: no transaction is at fault.
    #[error("{doing}: {error}")]
    Prepare {
        /// What was under way.
        doing: String,
        /// The target's answer.
        error: hortator_mysql::Error,
    },

    /// A large transaction has rows that do not fit those of the target. It is rolled back, and is to come again: the
    /// `conflict` policy decides about each of them then.
    #[error("{0}: the transaction is applied again, row by row where it does not fit")]
    DoesNotFit(String),

    /// A large transaction writes a table that cannot roll back, behind parts that can. It is rolled back, and is to come
    /// again: it is on record then before it begins.
    #[error("{0} writes a table that cannot roll back, behind rows that can: it is applied again, on record as such")]
    CannotRollBack(String),

    /// A transaction that does not end has left rows that cannot be rolled back. The position is behind it.
    #[error(
        "the source has crashed within the transaction behind {place} and does not have it, but the target cannot roll back all of \
         it: compare the two (`{text}`), remove what is too much on the target; then `resume` goes on behind it"
    )]
    Leftovers {
        /// The place in the source's log before it.
        place: String,
        /// What it is.
        text: String,
    },

    /// An event that cannot be carried over.
    #[error("{place}: {found}")]
    Event {
        /// The place in the source's log.
        place: String,
        /// What was found, and what to do.
        found: String,
    },

    /// The source's log.
    #[error(transparent)]
    Binlog(#[from] binlog::Error),

    /// The source's sessions have ended, and their temporary tables with them: ours has to end, too.
    #[error("the source was restarted with temporary tables open: they are gone")]
    SourceRestarted,

    /// Another session applies the source.
    #[error("another process applies the source {name} to this target: end it, or give this source another name")]
    Busy {
        /// The source's name.
        name: String,
    },

    /// The position on record is another one than this session has left.
    #[error("another process has applied transactions of the source {name} to this target meanwhile: end it")]
    Moved {
        /// The source's name.
        name: String,
    },

    /// A definition had begun when an earlier run ended, and the target cannot tell what became of it.
    #[error(
        "the statement behind {place} had begun when an earlier run ended, and may be applied: look at what it changes, \
         `{text}`; then `skip` it if it is applied, or `resume` to run it again"
    )]
    InDoubt {
        /// The place in the source's log.
        place: String,
        /// The statement.
        text: String,
    },
}

/// What an error of the target begins with, before the place.
pub(super) const APPLYING: &str = "applying ";

impl Error {
    /// How the transaction that was given back is to be applied when it comes again.
    #[must_use]
    pub fn next_large(&self) -> LargeTransaction {
        match self {
            Error::DoesNotFit(_) => LargeTransaction::DoesNotFit,
            Error::CannotRollBack(_) => LargeTransaction::CannotRollBack,
            _ => LargeTransaction::New,
        }
    }

    /// The error with its place, where it has none yet.
    pub(super) fn at(self, name: impl FnOnce() -> String) -> Error {
        match self {
            Error::Event { place, found } if place.is_empty() => Error::Event { place: name(), found },
            Error::Target { doing, error } if doing == APPLYING => Error::Target { doing: doing + &name(), error },
            error => error,
        }
    }
}
