//! Recovery: compares the position of the tables with the log.
//!
//! Recovery points: N, the seqno up to which the tables are applied; M, the last seqno in the log. Everything after N
//! up to M was ordered, and may have been confirmed to a client: it is applied again, from the log.

use crate::binary_log::{self, Comparison, Group};
use crate::entry::{self, Entry, Stamp};
use crate::identity::{Gtid, Uuid};
use crate::log::{self, Index, LogRecords};
use crate::node::{RecordedVerdicts, TotalOrder};
use crate::saved_state::{FILE_NAME, SavedState};
use crate::server::{Flags, Member};
use crate::vote_result::VoteResult;

#[cfg(test)]
mod tests;

/// What to do until the tables match the log.
#[derive(Debug)]
pub struct Plan {
    /// The total order at N, or at the end of the log if that is earlier.
    pub order: TotalOrder,
    /// N: the tables are applied up to here.
    pub tables_at: i64,
    /// M: the last seqno in the log.
    pub end: i64,
    /// The last transaction that the tables hold, as far as the log tells.
    pub last_committed: i64,
    /// Number of write sets between the two. The other seqnos are views.
    pub write_sets_behind: i64,
    /// The first entry that the total order has not applied.
    pub order_from: Index,
    /// Members whose streaming transactions may be open at N.
    pub former_members: Vec<Member>,
    /// Whether the log holds all verdicts that later entries need.
    pub has_all_verdicts: bool,
    /// Results of inconsistency votes.
    pub vote_results: Vec<(i64, VoteResult)>,
    /// A remark for the error log.
    pub remark: Option<String>,
}

/// Why recovery is not possible.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The position of the tables is unknown.
    #[error(
        "the log holds seqnos up to {end}, but the server does not report the position of its tables. Start it like \
         systemd's unit and `hortator sandbox` do: run mariadbd --wsrep-recover, then start with the printed \
         position, --wsrep-start-position={history_uuid}:SEQNO"
    )]
    NoPosition {
        /// The log's.
        history_uuid: Uuid,
        /// The log's.
        end: i64,
    },
    /// Tables and log belong to different clusters.
    #[error(
        "the server's tables belong to the cluster {tables}, the log in the data folder to {log}. Restore the log of \
         these tables; or, to bootstrap a new cluster with the tables, move the files hortator-* and {FILE_NAME} \
         away"
    )]
    OtherHistory {
        /// The server's.
        tables: Uuid,
        /// The log's.
        log: Uuid,
    },
    /// Missing entries were purged.
    #[error(
        "the server's tables are applied up to seqno {tables_at}, and the log begins after seqno {first}: {missing} \
         seqnos are missing. Restore the data from a backup; log.retain sets how much of the log is kept"
    )]
    Gap {
        /// N.
        tables_at: i64,
        /// The seqno before the first one in the log.
        first: i64,
        /// Number of missing seqnos.
        missing: i64,
    },
    /// It is not known what a replay must not write to the binary log.
    #[error(
        "{count} transactions must be applied again from the log, and the provider cannot find out which of them the \
         binary log holds already: {reason}. A server with log_bin could write them to it a second time, with new \
         GTIDs. Start it with --skip-log-bin, stop it when it is ready, then start it as usual: the binary log \
         already holds what was confirmed"
    )]
    BinaryLog {
        /// Number of transactions.
        count: i64,
        /// Why not.
        reason: binary_log::Error,
    },
    /// An entry's seqno is not after the previous one.
    #[error(
        "the log has seqno {seqno} at index {index}, after seqno {last}: the log is not complete. Move the files \
         hortator* away and let the node join again"
    )]
    OutOfOrder {
        /// Its log index.
        index: Index,
        /// Its seqno.
        seqno: i64,
        /// The previous seqno.
        last: i64,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// An entry is not valid.
    #[error("entry {index} of the log: {error}")]
    Entry {
        /// Its log index.
        index: u64,
        /// The error.
        error: entry::Error,
    },
}

/// The position of the tables, from the server and the saved state; None: unknown, or there never was one.
///
/// A server advances its position even over a write set that it could not apply: then the saved state is right. A
/// server that was killed during an SST finds the donor's position and half of the tables: the saved state has no
/// history UUID then.
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

/// Plans the recovery of tables at `tables` from the committed part of the log of `history_uuid`.
pub fn make_plan(
    log: &impl LogRecords,
    commit_index: Index,
    history_uuid: Uuid,
    tables: Option<Gtid>,
    saved: Option<&SavedState>,
) -> Result<Plan, Error> {
    let scan = LogScan::of(log, commit_index, tables.map_or(0, |tables| tables.seqno))?;
    let end = scan.end;
    let Some(tables) = tables else {
        if commit_index < log.first() {
            return Ok(Plan::empty(history_uuid, 0, commit_index.next()));
        }
        if scan.has_only_first_views(log.first()) && saved.is_none_or(|saved| !saved.history_uuid.is_undefined()) {
            return make_plan(log, commit_index, history_uuid, Some(Gtid { history_uuid, seqno: 0 }), saved);
        }
        return Err(Error::NoPosition { history_uuid, end });
    };
    if tables.history_uuid != history_uuid {
        return Err(Error::OtherHistory { tables: tables.history_uuid, log: history_uuid });
    }
    let tables_at = tables.seqno;
    let Some(begins_behind) = scan.last_seqno_before else {
        return Ok(Plan::empty(history_uuid, tables_at, commit_index.next()));
    };
    if tables_at < begins_behind {
        return Err(Error::Gap { tables_at, first: begins_behind, missing: begins_behind - tables_at });
    }
    let remark = (tables_at > end).then(|| {
        format!(
            "the log ends at seqno {end}, but the server's tables are applied up to seqno {tables_at}: the log was \
             not synced, or was replaced. The log continues after seqno {tables_at}"
        )
    });
    let is_certain = scan.has_all_verdicts(log.first(), tables_at);
    let (order, order_from, last_committed) =
        total_order_at(log, commit_index, history_uuid, tables_at, scan.verdicts)?;
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
        last_committed,
        write_sets_behind,
        order_from,
        former_members,
        has_all_verdicts: is_certain,
        vote_results,
        remark,
    })
}

/// The last seqno that the binary log holds, whose last groups these are.
pub fn logged_upto(log: &impl LogRecords, commit_index: Index, groups: &[Group]) -> Result<i64, Error> {
    let mut comparison = Comparison::new(groups);
    for_each_entry(log, commit_index, |_, stamp, entry| {
        if let Entry::WriteSet { head, data, .. } = &entry {
            comparison.add(stamp.seqno, head, data);
        }
        Ok(true)
    })?;
    Ok(comparison.logged_upto())
}

/// A former member ID of this node; nothing else is known of it.
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
            last_committed: 0,
            write_sets_behind: 0,
            order_from,
            former_members: Vec::new(),
            has_all_verdicts: true,
            vote_results: Vec::new(),
            remark: None,
        }
    }

    /// Number of seqnos to apply again.
    pub fn behind(&self) -> i64 {
        (self.end - self.tables_at).max(0)
    }
}

/// The result of a scan of the whole log.
#[derive(Debug, Default)]
struct LogScan {
    /// The seqno before the consecutive ones at the end of the log.
    last_seqno_before: Option<i64>,
    end: i64,
    tables_at: i64,
    write_sets_behind: i64,
    verdicts: RecordedVerdicts,
    vote_results: Vec<(i64, VoteResult)>,
    /// The last seqno before the first commit cut.
    first_cut_seqno: Option<i64>,
    /// The latest two commit cuts.
    cuts: [i64; 2],
}

impl LogScan {
    fn of(log: &impl LogRecords, commit_index: Index, tables_at: i64) -> Result<Self, Error> {
        let mut scan = Self { tables_at, ..Self::default() };
        for_each_entry(log, commit_index, |index, stamp, entry| {
            let takes_seqno = matches!(entry, Entry::WriteSet { .. } | Entry::View { .. });
            if takes_seqno && scan.last_seqno_before.is_some() && stamp.seqno <= scan.end {
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

    /// Only views were ordered: the node was killed at its bootstrap, before its server noted the position. The tables
    /// lack nothing, wherever they are.
    fn has_only_first_views(&self, first: Index) -> bool {
        first == Index(1) && self.tables_at == 0 && self.write_sets_behind == 0
    }

    /// See [`TotalOrder::snapshot_point`].
    fn has_all_verdicts(&self, first: Index, tables_at: i64) -> bool {
        first == Index(1)
            || (tables_at >= self.verdicts.from && self.first_cut_seqno.is_some_and(|behind| behind <= self.cuts[0]))
    }
}

/// The total order at that seqno, the first entry after it, and the last transaction before it.
fn total_order_at(
    log: &impl LogRecords,
    commit_index: Index,
    history_uuid: Uuid,
    tables_at: i64,
    verdicts: RecordedVerdicts,
) -> Result<(TotalOrder, Index, i64), Error> {
    let mut order = TotalOrder::with_verdicts(history_uuid, 0, verdicts);
    let mut order_from = commit_index.next();
    let mut last_committed = 0;
    for_each_entry(log, commit_index, |index, stamp, entry| {
        let takes_seqno = matches!(entry, Entry::WriteSet { .. } | Entry::View { .. });
        if takes_seqno && stamp.seqno > tables_at {
            order_from = index;
            return Ok(false);
        }
        let verdict = order.apply_entry(index, stamp, &entry);
        if let (Entry::WriteSet { head, .. }, Some(true)) = (&entry, verdict.map(|verdict| verdict.passed))
            && head.flags.has(Flags::TRX_END)
            && !head.flags.has(Flags::ISOLATION)
        {
            last_committed = stamp.seqno;
        }
        Ok(true)
    })?;
    Ok((order, order_from, last_committed))
}

/// Calls `take` for each entry until it returns false.
fn for_each_entry(
    log: &impl LogRecords,
    commit_index: Index,
    mut take: impl FnMut(Index, Stamp, Entry) -> Result<bool, Error>,
) -> Result<(), Error> {
    for record in log.records()? {
        let (index, bytes) = record?;
        if index > commit_index {
            break;
        }
        let (stamp, entry) = entry::decode(&bytes).map_err(|error| Error::Entry { index: index.0, error })?;
        if !take(index, stamp, entry)? {
            break;
        }
    }
    Ok(())
}
