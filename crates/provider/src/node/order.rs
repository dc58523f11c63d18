//! The order: each write set gets its seqno, its place in the log and its verdict, one after the other.
//!
//! [`Order`] is what all nodes must agree on, given the same entries. It is behind one mutex, the first of the lock order;
//! nothing waits while it is held, and no call into the server is made. Waiting for the disk comes after it.
//!
//! A verdict needs what came before, so a node whose log begins somewhere in the middle cannot find those on the first
//! entries there. Each cut tells those on what came before it: from the second cut on nothing is missing.

use std::collections::{HashSet, VecDeque};

use hortator_core::{Candidate, CertificationIndex, Key, Mode, Seqno, SourceId, Verdict as Certified};

use crate::entry::{Cut, Entry, Stamp, WriteSetHead};
use crate::identity::Uuid;
use crate::log::Index;
use crate::server::{Flags, Member};

/// A cut is put into the order every so many seqnos.
const CUT_INTERVAL: i64 = 1024;

/// Or as soon as so many keys came since the last: what certification remembers stays below 100 MB, and what is in flight.
const CUT_INTERVAL_KEYS: usize = 500_000;

/// Cuts whose places are remembered.
const CUT_PLACES_LIMIT: usize = 64;

/// What is decided by the order alone.
#[derive(Debug)]
pub struct Order {
    /// Whose order it is.
    pub history: Uuid,
    /// The last that was given.
    pub seqno: i64,
    /// How many views there were.
    pub view_number: i64,
    /// The life of this node that write sets of its own bear.
    pub member: Uuid,
    /// The view in force; None: the log begins behind it.
    members: Option<Vec<Member>>,
    /// The last cut.
    pub last_cut: i64,
    /// The one before it.
    earlier_cut: i64,
    /// The latest cuts, the oldest first.
    cuts: VecDeque<CutPlace>,
    /// Verdicts up to here are told by cuts.
    judged_to: i64,
    /// What failed since.
    failed: Vec<i64>,
    told: Told,
    keys_since_cut: usize,
    certification: CertificationIndex,
}

/// Where a cut stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPlace {
    /// In the log.
    pub index: Index,
    /// The last seqno before it.
    pub behind: i64,
    /// It and those after it tell the verdicts on everything behind this.
    pub judged_from: i64,
}

/// Verdicts that cuts tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// On everything behind this …
    pub from: i64,
    /// … and up to here.
    pub to: i64,
    /// Those failed.
    pub failed: HashSet<i64>,
}

impl Told {
    /// Takes the next cut of a log.
    pub fn take(&mut self, cut: &Cut) {
        if self.to == 0 {
            self.from = cut.judged_from;
        }
        self.to = self.to.max(cut.judged_to);
        self.failed.extend(&cut.failed);
    }
}

/// What certification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may commit.
    pub passed: bool,
    /// The last that must be applied before it.
    pub depends_on: i64,
}

impl Order {
    /// An order that begins behind `seqno`.
    pub fn new(history: Uuid, seqno: i64) -> Self {
        Self {
            history,
            seqno,
            view_number: 0,
            member: Uuid::UNDEFINED,
            members: None,
            last_cut: seqno,
            earlier_cut: seqno,
            cuts: VecDeque::new(),
            judged_to: seqno,
            failed: Vec::new(),
            told: Told::default(),
            keys_since_cut: 0,
            certification: CertificationIndex::new(Seqno(seqno as u64)),
        }
    }

    /// An order of which some verdicts are told, and which is taken from a log that begins behind `seqno`.
    pub fn with_verdicts(history: Uuid, seqno: i64, told: Told) -> Self {
        Self { told, ..Self::new(history, seqno) }
    }

    /// Takes an entry of a log. Some: it is a write set.
    pub fn take(&mut self, index: Index, stamp: Stamp, entry: &Entry) -> Option<Verdict> {
        match entry {
            Entry::WriteSet { head, keys, .. } => return Some(self.write_set(stamp.seqno, head, keys)),
            Entry::View { number, members } => self.view(stamp.seqno, *number, members),
            Entry::Cut(cut) => {
                self.seqno = self.seqno.max(stamp.seqno);
                self.cut(index, cut);
            }
            Entry::Nothing | Entry::Group(_) | Entry::Decision { .. } => self.seqno = self.seqno.max(stamp.seqno),
        }
        None
    }

    /// Takes the next write set, whose place is `seqno`.
    pub fn write_set(&mut self, seqno: i64, head: &WriteSetHead, keys: &[(Key, Mode)]) -> Verdict {
        self.seqno = seqno;
        self.keys_since_cut += keys.len();
        let flags = head.flags;
        let candidate = Candidate {
            seqno: Seqno(seqno as u64),
            source: SourceId(head.source.bits()),
            last_seen: Seqno(head.last_seen.max(0) as u64),
            isolation: flags.has(Flags::ISOLATION),
            pa_unsafe: flags.has(Flags::PA_UNSAFE),
            implicit_deps: flags.has(Flags::IMPLICIT_DEPS),
            keys,
        };
        let is_told = self.told.from < seqno && seqno <= self.told.to;
        let depends_on = if is_told {
            let has_passed = !self.told.failed.contains(&seqno);
            self.certification.replay_verdict(&candidate, has_passed)
        } else if !self.is_member(head.source) {
            // Of a life that has ended by now: what the others held open for it they have rolled back.
            self.certification.replay_verdict(&candidate, false)
        } else {
            match self.certification.certify(&candidate) {
                Certified::Passed { depends_on } => Some(depends_on),
                Certified::Failed(_) => None,
            }
        };
        if depends_on.is_none() && seqno > self.judged_to {
            self.failed.push(seqno);
        }
        Verdict {
            passed: depends_on.is_some(),
            depends_on: depends_on.map_or(seqno - 1, |depends_on| depends_on.0 as i64),
        }
    }

    /// Whether write sets of that life may pass.
    pub fn is_member(&self, life: Uuid) -> bool {
        self.members.as_ref().is_none_or(|members| members.iter().any(|member| member.id == life))
    }

    /// Whether the view in force has that life inside.
    pub fn is_in_view(&self, life: Uuid) -> bool {
        self.members().iter().any(|member| member.id == life)
    }

    /// The view in force, as far as it is known.
    pub fn members(&self) -> &[Member] {
        self.members.as_deref().unwrap_or_default()
    }

    /// Takes a view, whose place is `seqno`.
    pub fn view(&mut self, seqno: i64, number: i64, members: &[Member]) {
        self.seqno = seqno;
        self.view_number = number;
        self.members = Some(members.to_vec());
    }

    /// Whether it is time for a cut.
    pub fn wants_cut(&self) -> bool {
        self.seqno - self.last_cut >= CUT_INTERVAL || self.keys_since_cut >= CUT_INTERVAL_KEYS
    }

    /// A cut that could come next.
    pub fn next_cut(&self, upto: i64) -> Cut {
        Cut {
            upto,
            judged_from: self.judged_to,
            judged_to: self.seqno,
            failed: self.failed.clone(),
            view_number: self.view_number,
            members: self.members().to_vec(),
        }
    }

    /// Takes a cut: nobody will ask for anything at or before it. Some: nobody will need what lies before this in the log.
    pub fn cut(&mut self, index: Index, cut: &Cut) -> Option<Index> {
        self.keys_since_cut = 0;
        self.judged_to = self.judged_to.max(cut.judged_to);
        self.failed.retain(|seqno| *seqno > cut.judged_to);
        if self.members.is_none() && !cut.members.is_empty() {
            self.members = Some(cut.members.clone());
            self.view_number = cut.view_number;
        }
        self.earlier_cut = self.last_cut;
        if cut.upto > self.last_cut {
            self.last_cut = cut.upto;
            self.certification.purge(Seqno(cut.upto as u64));
        }
        self.cuts.push_back(CutPlace { index, behind: self.seqno, judged_from: cut.judged_from });
        while self.cuts.get(1).is_some_and(|next| next.behind <= self.earlier_cut) || self.cuts.len() > CUT_PLACES_LIMIT
        {
            self.cuts.pop_front();
        }
        self.begins_at().map(|place| place.index)
    }

    /// The latest cut from which on a log tells all verdicts that are still to be found: where another node's log may begin.
    pub fn begins_at(&self) -> Option<CutPlace> {
        self.cuts.front().copied().filter(|place| place.behind <= self.earlier_cut)
    }

    /// What lies between the end and `seqno` is in the tables, and in no log.
    pub fn skip_to(&mut self, seqno: i64) {
        self.seqno = seqno;
        (self.last_cut, self.earlier_cut) = (seqno, seqno);
        self.judged_to = seqno;
        self.failed.clear();
        self.keys_since_cut = 0;
        self.certification.purge(Seqno(seqno as u64));
    }

    /// How many keys are remembered.
    pub fn keys(&self) -> usize {
        self.certification.len()
    }
}
