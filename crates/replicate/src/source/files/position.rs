//! GTIDs that the target has, in a log in which they are mixed with others: each domain has an order of its own.

use std::collections::BTreeMap;

use crate::binlog::{Gtid, GtidPosition};

/// What the target has of each domain, and has not come yet in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead(BTreeMap<u32, Gtid>);

impl Ahead {
    /// What the target has, and a log that begins at `begin` does not have before its beginning.
    pub(super) fn of(target: &GtidPosition, begin: &GtidPosition) -> Ahead {
        Ahead(
            target
                .gtids()
                .filter(|gtid| begin.get(gtid.domain) != Some(*gtid))
                .map(|gtid| (gtid.domain, gtid))
                .collect(),
        )
    }

    /// Whether everything of it has come.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the target has a transaction.
    ///
    /// # Errors
    /// The target's last transaction of the domain, where it should have come and the log has another one.
    pub(super) fn has(&mut self, gtid: Gtid) -> Result<bool, Gtid> {
        match self.0.get(&gtid.domain).copied() {
            None => Ok(false),
            Some(last) if last == gtid => {
                self.0.remove(&gtid.domain);
                Ok(true)
            }
            Some(last) if gtid.seqno < last.seqno => Ok(true),
            Some(last) => Err(last),
        }
    }

    /// What has not come of a log that ends at `end`: of domains that it knows.
    pub(super) fn not_in(&self, end: &GtidPosition) -> Option<Gtid> {
        self.0.values().find(|gtid| end.get(gtid.domain).is_some()).copied()
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
        let mut ahead = Ahead::of(&position(target), &position(begin));
        let mut end = position(begin);
        let mut found = Vec::new();
        for text in log.split_whitespace() {
            let gtid: Gtid = text.parse().unwrap();
            end.advance(gtid);
            match ahead.has(gtid) {
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
