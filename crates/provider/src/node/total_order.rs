//! The total order: assigns each write set its seqno and its verdict, in log order.
//!
//! [`TotalOrder`] must be the same on all nodes, given the same entries. Its mutex is the first in the lock order; a
//! thread that holds it neither waits nor calls the server, and syncs the disk only afterwards.
//!
//! A verdict depends on earlier entries, so a node whose log begins in the middle cannot certify the first ones. Each
//! commit cut records the verdicts before it: from the second commit cut on, nothing is missing.

use std::collections::{HashSet, VecDeque};

use hortator_core::{Candidate, CertificationIndex, Failure, Key, Mode, Seqno, SourceId, Verdict as Certified};

use crate::entry::{CommitCut, Entry, Stamp, WriteSetHead};
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::ProtocolVersion;
use crate::server::{Flags, Member};

#[cfg(test)]
mod tests;

/// Seqnos between two commit cuts.
const COMMIT_CUT_INTERVAL_SEQNOS: i64 = 1024;

/// Keys between two commit cuts: keeps the certification index below 100 MB, plus what is in flight.
const COMMIT_CUT_INTERVAL_KEYS: usize = 500_000;

/// Bytes of write sets between two commit cuts: the log is purged only up to one of them, and the last three stay in it.
/// So large write sets need more of them than seqnos and keys tell.
const COMMIT_CUT_INTERVAL_BYTES: usize = 32 << 20;

/// Limit of remembered commit cuts.
const SNAPSHOT_POINTS_LIMIT: usize = 64;

/// State that depends on the ordered entries alone.
#[derive(Debug)]
pub struct TotalOrder {
    /// The history UUID.
    pub history_uuid: Uuid,
    /// The last seqno.
    pub seqno: i64,
    /// Number of views so far.
    pub view_number: i64,
    /// The protocol version in force: that of the last entry. It decides on the certification rules.
    pub protocol: ProtocolVersion,
    /// The member ID of this node's write sets.
    pub member: Uuid,
    /// The current view; None: the log begins after it.
    members: Option<Vec<Member>>,
    /// The seqno of the last view without `member`.
    absent_at: i64,
    /// The last commit cut's `upto`.
    pub last_cut_upto: i64,
    /// The `upto` of the one before.
    previous_cut_upto: i64,
    /// The latest commit cuts, oldest first.
    cuts: VecDeque<SnapshotPoint>,
    /// Commit cuts record all verdicts up to here.
    verdicts_upto: i64,
    /// Failed seqnos since then.
    failed: Vec<i64>,
    recorded_verdicts: RecordedVerdicts,
    keys_since_cut: usize,
    bytes_since_cut: usize,
    /// Seqnos between two commit cuts.
    cut_interval: i64,
    certification: CertificationIndex,
}

/// The position of a commit cut, from which another node's log may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPoint {
    /// Its log index.
    pub index: Index,
    /// The last seqno before it.
    pub last_seqno_before: i64,
    /// It and later commit cuts record all verdicts after this seqno.
    pub verdicts_from: i64,
}

/// Verdicts that commit cuts record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedVerdicts {
    /// All verdicts after this seqno …
    pub from: i64,
    /// … up to this one.
    pub upto: i64,
    /// The failed ones.
    pub failed: HashSet<i64>,
}

impl RecordedVerdicts {
    /// Adds the next commit cut of a log.
    pub fn add(&mut self, cut: &CommitCut) {
        if self.upto == 0 {
            self.from = cut.verdicts_from;
        }
        self.upto = self.upto.max(cut.verdicts_upto);
        self.failed.extend(&cut.failed);
    }
}

/// The result of certification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the write set may commit.
    pub passed: bool,
    /// Why certification failed it here. None: it passed, its member has left, or a commit cut says so.
    pub failure: Option<Failure>,
    /// The last seqno that must be applied before it.
    pub depends_on: i64,
}

impl TotalOrder {
    /// A total order after `seqno`.
    pub fn new(history_uuid: Uuid, seqno: i64) -> Self {
        Self {
            history_uuid,
            seqno,
            view_number: 0,
            protocol: ProtocolVersion::FIRST,
            member: Uuid::UNDEFINED,
            members: None,
            absent_at: seqno,
            last_cut_upto: seqno,
            previous_cut_upto: seqno,
            cuts: VecDeque::new(),
            verdicts_upto: seqno,
            failed: Vec::new(),
            recorded_verdicts: RecordedVerdicts::default(),
            keys_since_cut: 0,
            bytes_since_cut: 0,
            cut_interval: COMMIT_CUT_INTERVAL_SEQNOS,
            certification: CertificationIndex::new(Seqno(seqno as u64)),
        }
    }

    /// A total order with recorded verdicts, for a log that begins after `seqno`.
    pub fn with_verdicts(history_uuid: Uuid, seqno: i64, recorded: RecordedVerdicts) -> Self {
        Self { recorded_verdicts: recorded, ..Self::new(history_uuid, seqno) }
    }

    /// Whether the entry can be the next one of this order. Else the message says why the node must stop.
    ///
    /// # Errors
    /// The entry belongs to another order, or says more than the order knows.
    pub fn check_entry(&self, index: Index, stamp: Stamp, entry: &Entry) -> Result<(), String> {
        let seqno = stamp.seqno;
        if takes_seqno(entry) && seqno != self.seqno + 1 {
            return Err(format!(
                "entry {index} of the log has seqno {seqno}, but the last ordered seqno is {}: this log does not \
                 belong to the cluster. Move the data folder away and let the node join again",
                self.seqno
            ));
        }
        match entry {
            Entry::CommitCut(cut) if cut.upto > self.seqno => {
                Err(format!("entry {index} of the log is a commit cut at seqno {seqno} that covers later seqnos"))
            }
            _ => Ok(()),
        }
    }

    /// Applies an entry of the log. Some: the verdict of a write set.
    pub fn apply_entry(&mut self, index: Index, stamp: Stamp, entry: &Entry) -> Option<Verdict> {
        self.protocol = self.protocol.max(stamp.protocol);
        match entry {
            Entry::WriteSet { head, keys, data } => {
                return Some(self.certify_write_set(stamp.seqno, head, keys, data.len()));
            }
            Entry::View { number, members } => self.set_view(stamp.seqno, *number, members),
            Entry::CommitCut(cut) => {
                self.seqno = self.seqno.max(stamp.seqno);
                self.apply_commit_cut(index, cut);
            }
            Entry::NoOp | Entry::Membership(_) | Entry::VoteResult { .. } => self.seqno = self.seqno.max(stamp.seqno),
        }
        None
    }

    /// Certifies the write set with the next `seqno`. `data_bytes`: the length of its events.
    pub fn certify_write_set(
        &mut self,
        seqno: i64,
        head: &WriteSetHead,
        keys: &[(Key, Mode)],
        data_bytes: usize,
    ) -> Verdict {
        self.seqno = seqno;
        self.keys_since_cut += keys.len();
        self.bytes_since_cut += data_bytes;
        let flags = head.flags;
        let candidate = Candidate {
            seqno: Seqno(seqno as u64),
            source: SourceId(head.source.bits()),
            last_seen: Seqno(head.last_seen.max(0) as u64),
            isolation: flags.has(Flags::ISOLATION),
            pa_unsafe: flags.has(Flags::PA_UNSAFE) || may_end_streaming(flags),
            implicit_deps: flags.has(Flags::IMPLICIT_DEPS),
            keys,
        };
        let mut failure = None;
        let is_recorded = self.recorded_verdicts.from < seqno && seqno <= self.recorded_verdicts.upto;
        let depends_on = if is_recorded {
            let has_passed = !self.recorded_verdicts.failed.contains(&seqno);
            self.certification.replay_verdict(&candidate, has_passed)
        } else if !self.is_member(head.source) {
            // The member has left: the others have rolled back its streaming transactions.
            self.certification.replay_verdict(&candidate, false)
        } else {
            match self.certification.certify(&candidate) {
                Certified::Passed { depends_on } => Some(depends_on),
                Certified::Failed(reason) => {
                    failure = Some(reason);
                    None
                }
            }
        };
        if depends_on.is_none() && seqno > self.verdicts_upto {
            self.failed.push(seqno);
        }
        Verdict {
            passed: depends_on.is_some(),
            failure,
            depends_on: depends_on.map_or(seqno - 1, |depends_on| depends_on.0 as i64),
        }
    }

    /// Whether write sets of that member may pass.
    pub fn is_member(&self, member_id: Uuid) -> bool {
        self.members.as_ref().is_none_or(|members| members.iter().any(|member| member.id == member_id))
    }

    /// Whether the current view contains that member.
    pub fn is_in_view(&self, member_id: Uuid) -> bool {
        self.members().iter().any(|member| member.id == member_id)
    }

    /// The members of the current view, if it is known.
    pub fn members(&self) -> &[Member] {
        self.members.as_deref().unwrap_or_default()
    }

    /// Sets the view with the next `seqno`.
    pub fn set_view(&mut self, seqno: i64, number: i64, members: &[Member]) {
        self.seqno = seqno;
        self.view_number = number;
        self.members = Some(members.to_vec());
        if !self.is_in_view(self.member) {
            self.absent_at = seqno;
        }
    }

    /// Whether this node is in the current view, and was in all views since that of `seqno`. Else commit cuts have not
    /// waited for it.
    pub fn has_stayed_since(&self, seqno: i64) -> bool {
        self.is_in_view(self.member) && self.absent_at < seqno
    }

    /// The simulator's commit cuts come sooner.
    #[cfg(test)]
    pub fn set_cut_interval(&mut self, seqnos: i64) {
        self.cut_interval = seqnos;
    }

    /// Whether a commit cut is due.
    pub fn needs_commit_cut(&self) -> bool {
        self.seqno - self.last_cut_upto >= self.cut_interval
            || self.keys_since_cut >= COMMIT_CUT_INTERVAL_KEYS
            || self.bytes_since_cut >= COMMIT_CUT_INTERVAL_BYTES
    }

    /// The next commit cut, as of now.
    pub fn next_commit_cut(&self, upto: i64) -> CommitCut {
        CommitCut {
            upto,
            verdicts_from: self.verdicts_upto,
            verdicts_upto: self.seqno,
            failed: self.failed.clone(),
            view_number: self.view_number,
            members: self.members().to_vec(),
        }
    }

    /// Applies a commit cut: a later write set that has seen less than `upto` fails.
    pub fn apply_commit_cut(&mut self, index: Index, cut: &CommitCut) {
        (self.keys_since_cut, self.bytes_since_cut) = (0, 0);
        self.verdicts_upto = self.verdicts_upto.max(cut.verdicts_upto);
        self.failed.retain(|seqno| *seqno > cut.verdicts_upto);
        if self.members.is_none() && !cut.members.is_empty() {
            self.members = Some(cut.members.clone());
            self.view_number = cut.view_number;
        }
        self.previous_cut_upto = self.last_cut_upto;
        if cut.upto > self.last_cut_upto {
            self.last_cut_upto = cut.upto;
            self.certification.purge(Seqno(cut.upto as u64));
        }
        self.cuts.push_back(SnapshotPoint { index, last_seqno_before: self.seqno, verdicts_from: cut.verdicts_from });
        while self.cuts.get(1).is_some_and(|next| next.last_seqno_before <= self.previous_cut_upto)
            || self.cuts.len() > SNAPSHOT_POINTS_LIMIT
        {
            self.cuts.pop_front();
        }
    }

    /// The latest commit cut from which a log holds all verdicts that are needed: another node's log may begin there.
    pub fn snapshot_point(&self) -> Option<SnapshotPoint> {
        self.cuts.front().copied().filter(|point| point.last_seqno_before <= self.previous_cut_upto)
    }

    /// Counts a write set without a verdict: a witness gives none.
    pub fn pass_write_set(&mut self, seqno: i64) {
        self.seqno = seqno;
    }

    /// The seqnos up to `seqno` are in the tables, but in no log.
    pub fn skip_to(&mut self, seqno: i64) {
        self.seqno = seqno;
        (self.last_cut_upto, self.previous_cut_upto) = (seqno, seqno);
        self.verdicts_upto = seqno;
        self.failed.clear();
        (self.keys_since_cut, self.bytes_since_cut) = (0, 0);
        self.certification.purge(Seqno(seqno as u64));
    }

    /// Number of keys in the certification index.
    pub fn keys(&self) -> usize {
        self.certification.len()
    }
}

/// Whether a streaming transaction may end with it: by its last fragment, its rollback, or a statement in total order
/// isolation that aborts it. The rows of all its fragments are locked until then, and are not named here. Whatever follows
/// waits.
fn may_end_streaming(flags: Flags) -> bool {
    let is_last_fragment = flags.has(Flags::TRX_END) && !flags.has(Flags::TRX_START);
    is_last_fragment || flags.has(Flags::ROLLBACK) || flags.has(Flags::ISOLATION)
}

/// Whether the entry takes a seqno of its own.
pub fn takes_seqno(entry: &Entry) -> bool {
    matches!(entry, Entry::WriteSet { .. } | Entry::View { .. })
}
