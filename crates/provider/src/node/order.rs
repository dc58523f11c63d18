//! The order: each write set gets its seqno, its place in the log and its verdict, one after the other.
//!
//! [`Order`] is what all nodes must agree on, given the same entries. It is behind one mutex, the first of the lock order;
//! nothing waits while it is held, and no call into the server is made. Waiting for the disk comes after it.

use hortator_core::{Candidate, CertificationIndex, Key, Mode, Seqno, SourceId, Verdict as Certified};

use crate::entry::WriteSetHead;
use crate::identity::Uuid;
use crate::log::Index;
use crate::server::Flags;

/// A cut is put into the order every so many seqnos.
const CUT_INTERVAL: i64 = 1024;

/// Or as soon as so many keys came since the last: what certification remembers stays below 100 MB, and what is in flight.
const CUT_INTERVAL_KEYS: usize = 500_000;

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
    /// The last cut.
    pub last_cut: i64,
    /// Where in the log it is, and the last seqno before it there.
    pub cut_place: (Index, i64),
    keys_since_cut: usize,
    certification: CertificationIndex,
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
            last_cut: seqno,
            cut_place: (Index(0), seqno),
            keys_since_cut: 0,
            certification: CertificationIndex::new(Seqno(seqno as u64)),
        }
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
        match self.certification.certify(&candidate) {
            Certified::Passed { depends_on } => Verdict { passed: true, depends_on: depends_on.0 as i64 },
            Certified::Failed(_) => Verdict { passed: false, depends_on: seqno - 1 },
        }
    }

    /// Takes a view, whose place is `seqno`.
    pub fn view(&mut self, seqno: i64, number: i64) {
        self.seqno = seqno;
        self.view_number = number;
    }

    /// Whether it is time for a cut.
    pub fn wants_cut(&self) -> bool {
        self.seqno - self.last_cut >= CUT_INTERVAL || self.keys_since_cut >= CUT_INTERVAL_KEYS
    }

    /// Takes a cut: nobody will ask for anything at or before it.
    pub fn cut(&mut self, seqno: i64) {
        self.last_cut = seqno;
        self.keys_since_cut = 0;
        self.certification.purge(Seqno(seqno as u64));
    }

    /// What lies between the end and `seqno` is in the tables, and in no log.
    pub fn skip_to(&mut self, seqno: i64) {
        self.seqno = seqno;
        self.cut(seqno);
    }

    /// How many keys are remembered.
    pub fn keys(&self) -> usize {
        self.certification.len()
    }
}
