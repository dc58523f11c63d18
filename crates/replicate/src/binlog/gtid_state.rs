//! Which transactions of a source are applied, by their ids.

use std::fmt;
use std::str::FromStr;

use super::{Gtid, GtidPosition, GtidSet, MySqlGtid};

/// Which transactions of a source are applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GtidState {
    /// MariaDB: the last transaction of each domain. Empty: they have no ids, or are not known by them.
    MariaDb(GtidPosition),
    /// MySQL: all of them.
    MySql(GtidSet),
}

impl Default for GtidState {
    fn default() -> GtidState {
        GtidState::MariaDb(GtidPosition::default())
    }
}

impl GtidState {
    /// Whether no transaction is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            GtidState::MariaDb(position) => position.is_empty(),
            GtidState::MySql(set) => set.is_empty(),
        }
    }

    /// MariaDB's form; an empty one for MySQL.
    #[must_use]
    pub fn position(&self) -> GtidPosition {
        match self {
            GtidState::MariaDb(position) => position.clone(),
            GtidState::MySql(_) => GtidPosition::default(),
        }
    }

    /// MySQL's form, if it is one.
    #[must_use]
    pub fn set(&self) -> Option<&GtidSet> {
        match self {
            GtidState::MariaDb(_) => None,
            GtidState::MySql(set) => Some(set),
        }
    }

    /// A transaction of MariaDB is applied now.
    pub fn advance(&mut self, gtid: Gtid) {
        match self {
            GtidState::MariaDb(position) => position.advance(gtid),
            GtidState::MySql(_) => *self = GtidState::MariaDb([gtid].into_iter().collect()),
        }
    }

    /// A transaction of MySQL is applied now. Where those before it are not known, it is not known either: a set must be whole,
    /// the source is asked for what is not in it.
    pub fn add(&mut self, gtid: &MySqlGtid) {
        if let GtidState::MySql(set) = self {
            set.add(gtid);
        }
    }

    /// Whether all transactions of another one are applied.
    #[must_use]
    pub fn contains(&self, other: &GtidState) -> bool {
        match (self, other) {
            (GtidState::MariaDb(own), GtidState::MariaDb(other)) => own.contains(other),
            (GtidState::MySql(own), GtidState::MySql(other)) => own.contains(other),
            (_, other) => other.is_empty(),
        }
    }
}

impl From<GtidPosition> for GtidState {
    fn from(position: GtidPosition) -> GtidState {
        GtidState::MariaDb(position)
    }
}

impl fmt::Display for GtidState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GtidState::MariaDb(position) => position.fmt(f),
            GtidState::MySql(set) => set.fmt(f),
        }
    }
}

impl FromStr for GtidState {
    type Err = String;

    fn from_str(text: &str) -> Result<GtidState, String> {
        if text.contains(':') { text.parse().map(GtidState::MySql) } else { text.parse().map(GtidState::MariaDb) }
    }
}
