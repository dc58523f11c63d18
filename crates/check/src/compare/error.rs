//! The errors of a comparison.

use std::fmt;

/// One of the two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first endpoint.
    First,
    /// The second endpoint.
    Second,
}

impl Which {
    /// Both endpoints, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// 0 or 1.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self == Self::Second)
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// The error that ended a comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server refused a statement, or the connection was lost.
    #[error("the {which} endpoint ({address}), {action}: {source}")]
    Server {
        /// The endpoint.
        which: Which,
        /// The address of its server.
        address: String,
        /// The failed action.
        action: String,
        /// The error of the server or connection.
        source: Box<hortator_mysql::Error>,
    },

    /// A name that exists at neither endpoint.
    #[error("{what} exists at neither endpoint, or the accounts cannot see it: check the name")]
    NotFound {
        /// The kind and name.
        what: String,
    },
}
