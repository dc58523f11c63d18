//! Where a node goes on: what the server says its tables hold, what the log holds, and what follows from the two.
//!
//! The recovery points: N, the place up to which the server's tables are; M, the end of the log. Everything behind N and
//! up to M was ordered, and may have been confirmed to a client: it is applied again, from the log.

use crate::entry::{self, Entry, Stamp};
use crate::identity::{Gtid, Uuid};
use crate::log::{self, DiskLog, Index};
use crate::node::{RecordedVerdicts, TotalOrder};
use crate::saved_state::{FILE_NAME, SavedState};
use crate::server::Member;
use crate::vote_result::VoteResult;

#[cfg(test)]
mod tests;

/// What is to be done before the node is in step with its own log.
#[derive(Debug)]
pub struct Plan {
    /// The order as it is at N, or at the log's end where that comes before.
    pub order: TotalOrder,
    /// N: the tables hold everything up to here.
    pub tables_at: i64,
    /// M: the last seqno in the log.
    pub end: i64,
    /// How many write sets are between the two. The other places are views.
    pub write_sets_behind: i64,
    /// The first entry that the order has not taken.
    pub order_from: Index,
    /// Lives of nodes whose transactions may be open at N.
    pub former_members: Vec<Member>,
    /// Whether the log tells enough to judge whatever comes.
    pub has_all_verdicts: bool,
    /// What the nodes decided on places that not all could apply.
    pub vote_results: Vec<(i64, VoteResult)>,
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
         prints, --wsrep-start-position={history_uuid}:SEQNO"
    )]
    NoPosition {
        /// Of the log.
        history_uuid: Uuid,
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
    /// What stands there cannot stand behind what is before it.
    #[error(
        "the log has an entry for {seqno} at {index}, behind one for {last}: it is not whole. Move the files hortator* \
         away, and let the node join anew"
    )]
    OutOfOrder {
        /// In the log.
        index: Index,
        /// What it says.
        seqno: i64,
        /// What the one before it says.
        last: i64,
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
/// A server moves its position on even over what it could not apply: then what was saved is right. And one that was
/// killed while it took another's tables finds that one's position, and half of the tables: what was saved has no history.
pub fn tables_at(server_says: Gtid, saved: Option<&SavedState>) -> Option<Gtid> {
    if saved.is_some_and(|saved| saved.history_uuid.is_undefined()) {
        return None;
    }
    let said = if server_says.is_undefined() { saved.and_then(SavedState::position) } else { Some(server_says) };
    let failed_at =
        saved.filter(|saved| saved.failed_at >= 0 && Some(saved.history_uuid) == said.map(|said| said.history_uuid));
    match (said, failed_at) {
        (Some(said), Some(saved)) => Some(Gtid { seqno: said.seqno.min(saved.failed_at - 1), ..said }),
        _ => said,
    }
}

/// What the log of `history_uuid`, as far as it is agreed on, means for tables at `tables`.
pub fn make_plan(
    log: &DiskLog,
    agreed: Index,
    history_uuid: Uuid,
    tables: Option<Gtid>,
    saved: Option<&SavedState>,
) -> Result<Plan, Error> {
    let scan = LogScan::of(log, agreed, tables.map_or(0, |tables| tables.seqno))?;
    let end = scan.end;
    let Some(tables) = tables else {
        if agreed < log.first() {
            return Ok(Plan::empty(history_uuid, 0, agreed.next()));
        }
        if scan.has_only_first_views(log.first()) && saved.is_none_or(|saved| !saved.history_uuid.is_undefined()) {
            return make_plan(log, agreed, history_uuid, Some(Gtid { history_uuid, seqno: 0 }), saved);
        }
        return Err(Error::NoPosition { history_uuid, end });
    };
    if tables.history_uuid != history_uuid {
        return Err(Error::OtherHistory { tables: tables.history_uuid, log: history_uuid });
    }
    let tables_at = tables.seqno;
    let Some(begins_behind) = scan.last_seqno_before else {
        return Ok(Plan::empty(history_uuid, tables_at, agreed.next()));
    };
    if tables_at < begins_behind {
        return Err(Error::Gap { tables_at, first: begins_behind, missing: begins_behind - tables_at });
    }
    let remark = (tables_at > end).then(|| {
        format!(
            "the log ends at {end}, the server's tables hold everything up to {tables_at}: the log was not synced, or was \
             replaced. It goes on behind {tables_at}"
        )
    });
    let is_certain = scan.has_all_verdicts(log.first(), tables_at);
    let (order, order_from) = total_order_at(log, agreed, history_uuid, tables_at, scan.verdicts)?;
    let mut former_members = order.members().to_vec();
    if former_members.is_empty() {
        let member = saved.map(|saved| saved.member).filter(|member| !member.is_undefined());
        former_members.extend(member.map(former_member));
    }
    let write_sets_behind = scan.write_sets_behind;
    let vote_results = scan.vote_results;
    Ok(Plan {
        order,
        tables_at,
        end,
        write_sets_behind,
        order_from,
        former_members,
        has_all_verdicts: is_certain,
        vote_results,
        remark,
    })
}

/// A life of this node that has ended, of which nothing but the name is known.
fn former_member(id: Uuid) -> Member {
    Member { id, name: "before".to_owned(), incoming: String::new() }
}

impl Plan {
    fn empty(history_uuid: Uuid, tables_at: i64, order_from: Index) -> Self {
        let order = TotalOrder::new(history_uuid, tables_at);
        Self {
            order,
            tables_at,
            end: tables_at,
            write_sets_behind: 0,
            order_from,
            former_members: Vec::new(),
            has_all_verdicts: true,
            vote_results: Vec::new(),
            remark: None,
        }
    }

    /// How many places are to be applied again.
    pub fn behind(&self) -> i64 {
        (self.end - self.tables_at).max(0)
    }
}

/// What a look through the whole log tells.
#[derive(Debug, Default)]
struct LogScan {
    /// The place before the first of those that follow each other without a gap, up to the end.
    last_seqno_before: Option<i64>,
    end: i64,
    tables_at: i64,
    write_sets_behind: i64,
    verdicts: RecordedVerdicts,
    vote_results: Vec<(i64, VoteResult)>,
    /// The seqno before the first cut.
    first_cut_seqno: Option<i64>,
    /// The latest two.
    cuts: [i64; 2],
}

impl LogScan {
    fn of(log: &DiskLog, agreed: Index, tables_at: i64) -> Result<Self, Error> {
        let mut scan = Self { tables_at, ..Self::default() };
        for_each_entry(log, agreed, |index, stamp, entry| {
            let takes_place = matches!(entry, Entry::WriteSet { .. } | Entry::View { .. });
            if takes_place && scan.last_seqno_before.is_some() && stamp.seqno <= scan.end {
                return Err(Error::OutOfOrder { index, seqno: stamp.seqno, last: scan.end });
            }
            scan.take(stamp, entry);
            Ok(true)
        })?;
        Ok(scan)
    }

    fn take(&mut self, stamp: Stamp, entry: Entry) {
        let is_write_set = matches!(entry, Entry::WriteSet { .. });
        match entry {
            Entry::WriteSet { .. } | Entry::View { .. } => {
                self.write_sets_behind += i64::from(is_write_set && stamp.seqno > self.tables_at);
                if self.last_seqno_before.is_none() || stamp.seqno != self.end + 1 {
                    self.last_seqno_before = Some(stamp.seqno - 1);
                }
                self.end = stamp.seqno;
            }
            Entry::CommitCut(cut) => {
                self.verdicts.add(&cut);
                self.first_cut_seqno.get_or_insert(stamp.seqno);
                self.cuts = [self.cuts[1], self.cuts[1].max(cut.upto)];
            }
            Entry::VoteResult { seqno: of, result: decision } => self.vote_results.push((of, decision)),
            Entry::NoOp | Entry::Membership(_) => {}
        }
    }

    /// Nothing was ever ordered but views: the node was killed while it began the history, before its server noted that
    /// down. Then the tables, wherever they are, lack nothing.
    fn has_only_first_views(&self, first: Index) -> bool {
        first == Index(1) && self.tables_at == 0 && self.write_sets_behind == 0
    }

    /// See [`Order::begins_at`].
    fn has_all_verdicts(&self, first: Index, tables_at: i64) -> bool {
        first == Index(1)
            || (tables_at >= self.verdicts.from && self.first_cut_seqno.is_some_and(|behind| behind <= self.cuts[0]))
    }
}

/// The order at that place, and the first entry behind it.
fn total_order_at(
    log: &DiskLog,
    agreed: Index,
    history_uuid: Uuid,
    tables_at: i64,
    told: RecordedVerdicts,
) -> Result<(TotalOrder, Index), Error> {
    let mut order = TotalOrder::with_verdicts(history_uuid, 0, told);
    let mut order_from = agreed.next();
    for_each_entry(log, agreed, |index, stamp, entry| {
        let takes_place = matches!(entry, Entry::WriteSet { .. } | Entry::View { .. });
        if takes_place && stamp.seqno > tables_at {
            order_from = index;
            return Ok(false);
        }
        order.apply_entry(index, stamp, &entry);
        Ok(true)
    })?;
    Ok((order, order_from))
}

/// Calls `take` with each entry as long as it says true.
fn for_each_entry(
    log: &DiskLog,
    agreed: Index,
    mut take: impl FnMut(Index, Stamp, Entry) -> Result<bool, Error>,
) -> Result<(), Error> {
    for record in log.read(log.first())? {
        let (index, bytes) = record?;
        if index > agreed {
            break;
        }
        let (stamp, entry) = entry::decode(&bytes).map_err(|error| Error::Entry { index: index.0, error })?;
        if !take(index, stamp, entry)? {
            break;
        }
    }
    Ok(())
}
