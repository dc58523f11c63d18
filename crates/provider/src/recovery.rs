//! Where a node goes on: what the server says its tables hold, what the log holds, and what follows from the two.
//!
//! The recovery points: N, the place up to which the server's tables are; M, the end of the log. Everything behind N and
//! up to M was ordered, and may have been confirmed to a client: it is applied again, from the log.

use std::collections::HashSet;

use crate::entry::{self, Entry};
use crate::identity::{Gtid, Uuid};
use crate::log::{self, DiskLog, Index};
use crate::node::Order;
use crate::saved_state::{FILE_NAME, SavedState};

#[cfg(test)]
mod tests;

/// What is to be done before the node is in step with its own log.
#[derive(Debug)]
pub struct Plan {
    /// The order as it is at the end of the log.
    pub order: Order,
    /// N: the tables hold everything up to here.
    pub tables_at: i64,
    /// Where in the log the first entry behind N is; None: there is nothing to apply.
    pub replay_from: Option<Index>,
    /// Places that failed certification.
    pub failed: HashSet<i64>,
    /// The life of the node whose transactions may be open at N.
    pub earlier_member: Option<Uuid>,
    /// A remark for the error log.
    pub remark: Option<String>,
}

/// Why a node cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody says where the tables are.
    #[error(
        "the log holds transactions up to {end}, but the server does not say which of them its tables hold. Start it as \
         systemd's unit and `hortator sandbox` do: run mariadbd --wsrep-recover, then start with the position that it \
         prints, --wsrep-start-position={history}:SEQNO"
    )]
    NoPosition {
        /// Of the log.
        history: Uuid,
        /// Of the log.
        end: i64,
    },
    /// The data folder belongs elsewhere.
    #[error(
        "the server's tables belong to the cluster {tables}, the log beside them to {log}. Put back the log that belongs \
         to these tables; or, to begin anew with the tables as they are, move the files hortator-* and {FILE_NAME} away"
    )]
    OtherHistory {
        /// The server's.
        tables: Uuid,
        /// The log's.
        log: Uuid,
    },
    /// What is missing was purged.
    #[error(
        "the server's tables hold everything up to {tables_at}, and the log begins behind {first}: {missing} transactions \
         are in neither. Restore the data from a backup; log.retain sets how much of the log stays"
    )]
    Gap {
        /// N.
        tables_at: i64,
        /// The first in the log, less one.
        first: i64,
        /// How many.
        missing: i64,
    },
    /// Applying again would write a second copy into the binary log.
    #[error(
        "{count} transactions must be applied again from the log, and with log_bin on the server would write a second copy \
         of them into its binary log, under new GTIDs. Start it with --skip-log-bin, stop it when it is ready, then start it \
         as usual; what was confirmed is in the binary log already"
    )]
    SecondCopy {
        /// How many.
        count: i64,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// An entry cannot be understood.
    #[error("the log, entry {index}: {error}")]
    Entry {
        /// Which.
        index: u64,
        /// What it is.
        error: entry::Error,
    },
}

/// Where the tables are, from what the server says and what was saved; None: unknown, or there never was anything.
///
/// A server moves its position on even over what it could not apply: then what was saved is right.
pub fn tables_at(server_says: Gtid, saved: Option<&SavedState>) -> Option<Gtid> {
    let said = if server_says.is_undefined() { saved.and_then(SavedState::position) } else { Some(server_says) };
    let failed_at = saved.filter(|saved| saved.failed_at >= 0 && Some(saved.history) == said.map(|said| said.history));
    match (said, failed_at) {
        (Some(said), Some(saved)) => Some(Gtid { seqno: said.seqno.min(saved.failed_at - 1), ..said }),
        _ => said,
    }
}

/// What the log of `history` means for tables at `tables`.
pub fn plan(log: &DiskLog, history: Uuid, tables: Option<Gtid>, saved: Option<&SavedState>) -> Result<Plan, Error> {
    let mut scan = Scan::new(history);
    for record in log.read(log.first())? {
        let (index, bytes) = record?;
        scan.take(index, &bytes, tables.map_or(-1, |tables| tables.seqno))?;
    }
    let Scan { mut order, begins_behind, replay_from, failed, earlier_member, .. } = scan;
    let end = order.seqno;
    let Some(tables) = tables else {
        if log.last() < log.first() {
            return Ok(Plan::nothing(order, 0));
        }
        return Err(Error::NoPosition { history, end });
    };
    if tables.history != history {
        return Err(Error::OtherHistory { tables: tables.history, log: history });
    }
    let tables_at = tables.seqno;
    if begins_behind.is_none() {
        return Ok(Plan::nothing(Order::new(history, tables_at), tables_at));
    }
    let begins_behind = begins_behind.unwrap_or(tables_at);
    let mut remark = None;
    if tables_at > end {
        remark = Some(format!(
            "the log ends at {end}, the server's tables hold everything up to {tables_at}: the log was not synced, or was \
             replaced. It goes on behind {tables_at}"
        ));
        order.skip_to(tables_at);
    } else if tables_at < begins_behind {
        return Err(Error::Gap { tables_at, first: begins_behind, missing: begins_behind - tables_at });
    }
    let earlier_member = earlier_member.or(saved.map(|saved| saved.member)).filter(|member| !member.is_undefined());
    Ok(Plan { order, tables_at, replay_from: replay_from.filter(|_| tables_at < end), failed, earlier_member, remark })
}

impl Plan {
    fn nothing(order: Order, tables_at: i64) -> Self {
        Self { order, tables_at, replay_from: None, failed: HashSet::new(), earlier_member: None, remark: None }
    }

    /// How many places are to be applied again.
    pub fn behind(&self) -> i64 {
        self.order.seqno - self.tables_at
    }
}

struct Scan {
    order: Order,
    /// The place before the first of those that follow each other without a gap, up to the end.
    begins_behind: Option<i64>,
    replay_from: Option<Index>,
    failed: HashSet<i64>,
    earlier_member: Option<Uuid>,
}

impl Scan {
    fn new(history: Uuid) -> Self {
        Self {
            order: Order::new(history, 0),
            begins_behind: None,
            replay_from: None,
            failed: HashSet::new(),
            earlier_member: None,
        }
    }

    fn take(&mut self, index: Index, bytes: &[u8], tables_at: i64) -> Result<(), Error> {
        let (seqno, entry) = entry::decode(bytes).map_err(|error| Error::Entry { index: index.0, error })?;
        if let Entry::Cut = entry {
            self.order.cut(seqno);
            return Ok(());
        }
        if self.begins_behind.is_none() || seqno != self.order.seqno + 1 {
            self.begins_behind = Some(seqno - 1);
        }
        match entry {
            Entry::WriteSet { head, keys, .. } => {
                let verdict = self.order.write_set(seqno, &head, &keys);
                if !verdict.passed && seqno > tables_at {
                    self.failed.insert(seqno);
                }
            }
            Entry::View { number, members } => {
                self.order.view(seqno, number);
                if seqno <= tables_at {
                    self.earlier_member = members.first().map(|member| member.id);
                }
            }
            Entry::Cut => {}
        }
        if seqno > tables_at && self.replay_from.is_none() {
            self.replay_from = Some(index);
        }
        Ok(())
    }
}
