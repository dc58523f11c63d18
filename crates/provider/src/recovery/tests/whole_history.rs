//! A node whose log begins in the middle gives the same verdicts as one with the whole log.

use std::collections::VecDeque;

use super::*;

/// `SplitMix64`.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as i64
    }

    fn is(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }
}

fn member(member_id: u8) -> Member {
    Member { id: Uuid([member_id; 16]), name: format!("n{member_id}"), incoming: String::new() }
}

struct Taken {
    bytes: Vec<u8>,
    verdict: Option<(i64, bool, i64)>,
    begins_at: Option<Index>,
    seqno: i64,
    protocol: ProtocolVersion,
}

/// Entries from 1 on, with the verdicts of a node that has applied them all.
fn history_uuid(rng: &mut Rng, length: usize) -> (Vec<Taken>, TotalOrder) {
    let mut order = TotalOrder::new(HISTORY, 0);
    let mut taken: Vec<Taken> = Vec::new();
    let mut member_ids = vec![1, 2, 3];
    let mut next_life = 4;
    // In flight.
    let mut cut: Option<(Vec<u8>, usize)> = None;
    let mut late: VecDeque<(u8, i64)> = VecDeque::new();
    let every = 10 + rng.below(60);
    while taken.len() < length {
        let seqno = order.seqno;
        // A leader never has both a commit cut and a view in flight: the commit cut contains the current view.
        let mut bytes = if taken.is_empty() || cut.is_none() && rng.is(2) {
            if !taken.is_empty() {
                let seqno = rng.below(member_ids.len() as i64) as usize;
                // Returns with a new member ID, joins, or leaves.
                match rng.below(3) {
                    0 if member_ids.len() > 1 => {
                        member_ids.remove(seqno);
                    }
                    1 if member_ids.len() < 5 => member_ids.push(next_life),
                    _ => member_ids[seqno] = next_life,
                }
                next_life += 1;
            }
            let members: Vec<Member> = member_ids.iter().map(|member_id| member(*member_id)).collect();
            entry::encode_view(order.view_number + 1, &members)
        } else if cut.as_ref().is_some_and(|(_, at)| *at <= taken.len()) {
            cut.take().expect("looked at").0
        } else if rng.is(3) {
            entry::encode_no_op()
        } else {
            if rng.is(50) {
                let member_id = if rng.is(90) { member_ids[rng.below(member_ids.len() as i64) as usize] } else { 1 };
                late.push_back((member_id, (seqno - rng.below(2 * every)).max(0)));
            }
            let (member_id, last_seen) = match late.pop_front() {
                Some(sent) if rng.is(60) => sent,
                sent => {
                    late.extend(sent);
                    (member_ids[rng.below(member_ids.len() as i64) as usize], seqno - rng.below(20).min(seqno))
                }
            };
            let flags = [0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x45, 0x49, 0x1 | 0x10][rng.below(9) as usize];
            let keys: Vec<(Key, Mode)> = (0..rng.below(4))
                .map(|_| {
                    let mode = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];
                    let key = Key::row(b"s", b"t", 0, &rng.below(60).to_le_bytes());
                    (key, mode[rng.below(4) as usize])
                })
                .collect();
            let (source, flags) = (Uuid([member_id; 16]), Flags(flags));
            let head = WriteSetHead { flags, source, trx: 1, conn: 1, last_seen, request_id: 0 };
            entry::encode_write_set(&head, &keys, 0)
        };
        let seqno = seqno + i64::from(entry::takes_seqno(&bytes));
        let protocol = if rng.is(1) { ProtocolVersion::WEIGHTS } else { order.protocol };
        let stamp = Stamp { seqno, term: Term(1), protocol };
        entry::set_stamp(&mut bytes, stamp);
        let entry = entry::decode(&bytes).unwrap().1;
        let index = Index(taken.len() as u64 + 1);
        let verdict =
            order.apply_entry(index, stamp, &entry).map(|verdict| (stamp.seqno, verdict.passed, verdict.depends_on));
        let begins_at = order.snapshot_point().map(|seqno| seqno.index);
        taken.push(Taken { bytes, verdict, begins_at, seqno: order.seqno, protocol: order.protocol });
        if cut.is_none() && order.seqno - order.last_cut_upto > every {
            let upto = order.last_cut_upto + 1 + rng.below(order.seqno - order.last_cut_upto);
            let at = taken.len() + rng.below(25) as usize;
            cut = Some((entry::encode_commit_cut(&order.next_commit_cut(upto)), at));
        }
    }
    (taken, order)
}

fn check(seed: u64) -> bool {
    let mut rng = Rng(seed);
    let (taken, whole) = history_uuid(&mut rng, 700);
    let told_at = 1 + rng.below(taken.len() as i64) as usize;
    let Some(seqno) = taken[told_at - 1].begins_at else { return false };
    // A purged log begins somewhere before that.
    let first = if rng.is(50) { seqno.0 } else { 1 + rng.below(seqno.0 as i64) as u64 };
    let commit_index = Index((told_at as i64 + rng.below((taken.len() - told_at) as i64 + 1)) as u64);
    let behind = taken[seqno.0 as usize - 1].seqno;
    let end = taken[commit_index.0 as usize - 1].seqno;
    let at = behind + rng.below(end - behind + 1 + 10);
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { segment_bytes: 1 << 16, retain_bytes: 1 << 20, sync: false };
    let log = DiskLog::install_snapshot(folder.path(), settings, HISTORY.0, Index(first - 1)).unwrap();
    taken[first as usize - 1..].iter().for_each(|taken| {
        log.append(&[&taken.bytes]).unwrap();
    });
    log.flush(log.last()).unwrap();
    let Plan { mut order, tables_at, order_from, has_all_verdicts: is_certain, .. } =
        make_plan(&log, commit_index, HISTORY, tables(at), None).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(tables_at, at);
    assert!(is_certain, "seed {seed}: a log that begins where another said is not enough");
    for (nth, taken) in taken.iter().enumerate().skip(order_from.0 as usize - 1) {
        let (stamp, entry) = entry::decode(&taken.bytes).unwrap();
        let verdict = order.apply_entry(Index(nth as u64 + 1), stamp, &entry);
        assert_eq!(order.protocol, taken.protocol, "seed {seed}: entry {}", nth + 1);
        // No write set waits for what is in the tables already.
        let said = verdict.map(|verdict| (stamp.seqno, verdict.passed, verdict.depends_on.max(at)));
        let expected = taken.verdict.map(|(seqno, passed, depends_on)| (seqno, passed, depends_on.max(at)));
        if stamp.seqno > at {
            assert_eq!(said, expected, "seed {seed}: entry {}", nth + 1);
        }
    }
    assert_eq!(order.members(), whole.members(), "seed {seed}");
    assert_eq!(order.snapshot_point(), whole.snapshot_point(), "seed {seed}");
    assert_eq!(order.next_commit_cut(whole.seqno), whole.next_commit_cut(whole.seqno), "seed {seed}");
    true
}

#[test]
fn a_log_that_begins_in_the_middle_gives_the_same_verdicts() {
    let only = std::env::var("HORTATOR_SEED").ok().map(|seed| seed.parse().expect("HORTATOR_SEED is a number"));
    if let Some(seed) = only {
        check(seed);
        return;
    }
    let looked_at = (0..400).filter(|seed| check(*seed)).count();
    assert!(looked_at > 200, "only {looked_at} of the logs had a snapshot point");
}
