//! GTIDs that the target has, in a log in which they are mixed with others: each domain of MariaDB has an order of its own, and
//! MySQL says which ones it has, one by one.

use std::collections::BTreeMap;
use std::fmt;

use crate::binlog::{Gtid, GtidPosition, GtidSet, GtidState, MySqlGtid};

/// The id of a transaction that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TransactionId {
    MariaDb(Gtid),
    MySql(MySqlGtid),
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionId::MariaDb(gtid) => gtid.fmt(f),
            TransactionId::MySql(gtid) => gtid.fmt(f),
        }
    }
}

/// What the target has of what follows in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// The last transaction of each domain that has not come yet.
    MariaDb(BTreeMap<u32, Gtid>),
    /// All that it has.
    MySql(GtidSet),
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead::MariaDb(BTreeMap::new())
    }
}

impl Ahead {
    /// What the target has, and a log that begins at `begin` does not have before its beginning.
    pub(super) fn of(target: &GtidState, begin: &GtidState) -> Ahead {
        let begin = begin.position();
        match target {
            GtidState::MariaDb(target) => {
                let gtids = target.gtids().filter(|gtid| begin.get(gtid.domain) != Some(*gtid));
                Ahead::MariaDb(gtids.map(|gtid| (gtid.domain, gtid)).collect())
            }
            GtidState::MySql(target) => Ahead::MySql(target.clone()),
        }
    }

    /// Whether everything of it has come in a log that is read up to `end`.
    pub(super) fn has_come(&self, end: &GtidState) -> bool {
        match (self, end) {
            (Ahead::MariaDb(ahead), _) => ahead.is_empty(),
            // What the log never had is not behind the end.
            (Ahead::MySql(target), GtidState::MySql(end)) => target.without(end).of_servers_in(end).is_empty(),
            (Ahead::MySql(target), GtidState::MariaDb(_)) => target.is_empty(),
        }
    }

    /// Whether the target has a transaction.
    ///
    /// # Errors
    /// The target's last transaction of the domain, where it should have come and the log has another one.
    pub(super) fn has(&mut self, id: &TransactionId) -> Result<bool, Gtid> {
        match (self, id) {
            (Ahead::MariaDb(ahead), TransactionId::MariaDb(gtid)) => has_in_order(ahead, *gtid),
            (Ahead::MySql(target), TransactionId::MySql(gtid)) => Ok(target.has(gtid)),
            _ => Ok(false),
        }
    }

    /// What has not come of a log of MariaDB that ends at `end`: of domains that it knows.
    pub(super) fn not_in(&self, end: &GtidPosition) -> Option<Gtid> {
        match self {
            Ahead::MariaDb(ahead) => ahead.values().find(|gtid| end.get(gtid.domain).is_some()).copied(),
            Ahead::MySql(_) => None,
        }
    }
}

fn has_in_order(ahead: &mut BTreeMap<u32, Gtid>, gtid: Gtid) -> Result<bool, Gtid> {
    match ahead.get(&gtid.domain).copied() {
        None => Ok(false),
        Some(last) if last == gtid => {
            ahead.remove(&gtid.domain);
            Ok(true)
        }
        Some(last) if gtid.seqno < last.seqno => Ok(true),
        Some(last) => Err(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> GtidPosition {
        text.parse().unwrap()
    }

    /// The transactions of a log that the target does not have; then the one that the log should have.
    fn check(target: &str, begin: &str, log: &str, expected: &str) {
        let mut ahead = Ahead::of(&position(target).into(), &position(begin).into());
        let mut end = position(begin);
        let mut found = Vec::new();
        for text in log.split_whitespace() {
            let gtid: Gtid = text.parse().unwrap();
            end.advance(gtid);
            match ahead.has(&TransactionId::MariaDb(gtid)) {
                Ok(true) => {}
                Ok(false) => found.push(text.to_owned()),
                Err(last) => {
                    found.push(format!("!{last}"));
                    break;
                }
            }
        }
        found.extend(ahead.not_in(&end).filter(|_| found.is_empty()).map(|last| format!("?{last}")));
        assert_eq!(found.join(" "), expected, "{target}; {begin}; {log}");
    }

    #[test]
    fn what_the_target_has() {
        check("0-1-2", "0-1-1", "0-1-2 0-1-3 0-1-4", "0-1-3 0-1-4");
        check("0-1-2", "0-1-2", "0-1-3", "0-1-3");
        check("0-1-2,1-1-7", "", "0-1-1 1-1-6 1-1-7 1-1-8 0-1-2 0-1-3", "1-1-8 0-1-3");
        check("0-1-2", "0-1-1", "0-2-2 0-2-3", "!0-1-2");
        check("0-1-3", "0-1-1", "0-1-2 0-1-4", "!0-1-3");
        check("0-1-9", "0-1-1", "0-1-2 0-1-3", "?0-1-9");
        check("0-1-1,5-1-3", "0-1-1", "0-1-2", "0-1-2");
        check("0-1-1", "0-1-1", "4-1-1", "4-1-1");
    }
}
