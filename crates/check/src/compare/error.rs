//! Why a comparison did not come to a result.

use std::fmt;

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one named first.
    First,
    /// The other.
    Second,
}

impl Which {
    /// Both, in their order.
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

/// Why a comparison did not come to a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server refused, or the connection was lost.
    #[error("the {which} side ({address}), {doing}: {source}")]
    Server {
        /// The side.
        which: Which,
        /// Where it listens.
        address: String,
        /// What was under way.
        doing: String,
        /// What the server or the connection says.
        source: Box<hortator_mysql::Error>,
    },

    /// A name that neither side knows.
    #[error("neither side has {what}, or the accounts may not see it; look for a misspelt name")]
    Neither {
        /// What was looked for.
        what: String,
    },
}
