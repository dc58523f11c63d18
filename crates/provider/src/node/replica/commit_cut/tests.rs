//! A model of the members, with a real certification index: no write set fails that conflicts with nothing.

use super::*;
use crate::entry::WriteSetHead;
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::TotalOrder;
use crate::server::Flags;
use hortator_core::{Key, Mode};

const MEMBERS: usize = 3;

/// `SplitMix64`.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}

/// A member, and what it has reported.
#[derive(Clone, Default)]
struct MemberModel {
    applied: i64,
    /// The last-seen seqnos of its proposals that have no seqno yet. The links and flow control delay them.
    pending: Vec<i64>,
    reported: MemberSeqnos,
}

/// A random history of a cluster whose leader cuts by `upto_of`. Returns how many write sets failed; each has its own
/// key.
fn failures(seed: u64, upto_of: impl Fn(&[MemberModel], i64, usize) -> i64) -> usize {
    let mut rng = Rng(seed);
    let mut order = TotalOrder::new(Uuid::random().unwrap(), 0);
    let mut members = vec![MemberModel::default(); MEMBERS];
    let (mut cut_in_flight, mut failures, mut index) = (None, 0, 0);
    for _ in 0..2_000 {
        let nth = rng.below(MEMBERS);
        let member = &mut members[nth];
        match rng.below(10) {
            0..=2 => member.pending.push(member.applied),
            3..=5 if !member.pending.is_empty() => {
                let last_seen = member.pending.swap_remove(rng.below(member.pending.len()));
                let seqno = order.seqno + 1;
                let source = Uuid([nth as u8 + 1; 16]);
                let head = WriteSetHead { flags: Flags(0x41), source, trx: 1, conn: 1, last_seen, request_id: 0 };
                let key = Key::row(b"s", b"t", 0, &seqno.to_le_bytes());
                let verdict = order.certify_write_set(seqno, &head, &[(key, Mode::RowExclusive)], 0);
                failures += usize::from(!verdict.passed);
            }
            6 => member.applied += rng.below((order.seqno - member.applied) as usize + 1) as i64,
            7 => {
                let oldest_pending = member.pending.iter().copied().min().unwrap_or(i64::MAX);
                let applied = member.applied;
                member.reported = MemberSeqnos { applied, oldest_seen: applied.min(oldest_pending) };
            }
            8 if cut_in_flight.is_none() => {
                let upto = upto_of(&members, order.seqno, order.keys());
                cut_in_flight = (upto > order.last_cut_upto).then(|| order.next_commit_cut(upto));
            }
            _ => {
                if let Some(cut) = cut_in_flight.take() {
                    index += 1;
                    order.apply_commit_cut(Index(index), &cut);
                }
            }
        }
    }
    assert!(order.last_cut_upto > 0, "seed {seed}: nothing was purged");
    failures
}

#[test]
fn no_write_set_without_a_conflict_fails_however_long_it_waits_for_its_seqno() {
    let reported = |members: &[MemberModel], last: i64, keys: usize| {
        upto(members.iter().map(|member| member.reported), last, keys)
    };
    let applied_by_all = |members: &[MemberModel], _: i64, _: usize| {
        members.iter().map(|member| member.reported.applied).min().unwrap_or(0)
    };
    for seed in 0..100 {
        assert_eq!(failures(seed, reported), 0, "seed {seed}");
    }
    assert!(failures(0, applied_by_all) > 0, "the proposals wait long enough that the applied seqno would not do");
}

#[test]
fn the_slowest_member_and_the_oldest_proposal_count() {
    let member = |applied, oldest_seen| MemberSeqnos { applied, oldest_seen };
    assert_eq!(upto([member(90, 90), member(80, 70), member(100, 95)], 100, 0), 70);
    assert_eq!(upto([member(90, 90), member(80, 80)], 100, 0), 80);
    assert_eq!(upto([member(90, 90), MemberSeqnos::default()], 100, 0), 0, "a member that has not reported");
    assert_eq!(upto([], 100, 0), 0, "the view is not known");
    assert_eq!(upto([member(90, 90)], 85, 0), 85, "a member may have applied more than this node has ordered");
}

#[test]
fn an_index_that_is_full_waits_for_no_proposal() {
    let member = |oldest_seen| [MemberSeqnos { applied: 100_000, oldest_seen }];
    let last = 100_000;
    assert_eq!(upto(member(last - RETAINED_SEQNOS_LIMIT), last, 0), last - RETAINED_SEQNOS_LIMIT);
    assert_eq!(upto(member(last - RETAINED_SEQNOS_LIMIT - 1), last, 0), last);
    assert_eq!(upto(member(90_000), last, RETAINED_KEYS_LIMIT), 90_000);
    assert_eq!(upto(member(90_000), last, RETAINED_KEYS_LIMIT + 1), last);
}
