//! When commit cuts come, where a log may begin, and what waits for the end of a streaming transaction.

use super::*;

/// Write sets of that size, each applied before the next one, with a commit cut whenever one is due. Returns how many write
/// sets the log must keep for a joiner.
fn kept_of(count: i64, data_bytes: usize) -> i64 {
    let mut order = TotalOrder::new(Uuid([1; 16]), 0);
    let (source, mut index) = (Uuid([2; 16]), 0);
    for seqno in 1..=count {
        let head = WriteSetHead { flags: Flags(0x41), source, trx: 1, conn: 1, last_seen: seqno - 1, request_id: 0 };
        let key = Key::row(b"s", b"t", 0, &seqno.to_le_bytes());
        let verdict = order.certify_write_set(seqno, &head, &[(key, Mode::RowExclusive)], data_bytes);
        assert!(verdict.passed);
        index += 1;
        if order.needs_commit_cut() {
            index += 1;
            let cut = order.next_commit_cut(seqno - 1);
            order.apply_commit_cut(Index(index), &cut);
        }
    }
    count - order.snapshot_point().map_or(0, |point| point.last_seqno_before)
}

#[test]
fn a_log_of_large_write_sets_can_be_purged_as_one_of_many_small_ones() {
    assert!(kept_of(10_000, 300) < 4 * COMMIT_CUT_INTERVAL_SEQNOS);
    assert!(kept_of(100, 8 << 20) <= 16, "four commit cuts of 32 MiB");
    assert!(kept_of(100, 100 << 20) <= 4);
}

/// Its row was locked by the first fragment, until the last one is applied, which does not name it.
#[test]
fn a_write_set_waits_for_the_end_of_the_streaming_transaction_before_it() {
    let (start, middle, end) = (Flags::TRX_START, Flags(0), Flags::TRX_END);
    // A definition aborts it, maybe, without a rollback of its own.
    let toi = start.with(end).with(Flags::ISOLATION);
    for (last, waits_for) in [(end, 3), (Flags::ROLLBACK, 3), (toi, 3), (middle, 1)] {
        let mut order = TotalOrder::new(Uuid([1; 16]), 0);
        let mut certify = |seqno, flags, key: Option<u8>| {
            let head =
                WriteSetHead { flags, source: Uuid([2; 16]), trx: 1, conn: 1, last_seen: seqno - 1, request_id: 0 };
            let keys: Vec<_> =
                key.map(|key| (Key::row(b"s", b"t", 0, &[key]), Mode::RowExclusive)).into_iter().collect();
            order.certify_write_set(seqno, &head, &keys, 1)
        };
        certify(1, start, Some(1));
        certify(2, start.with(end), Some(2));
        certify(3, last, None);
        let next = certify(4, start.with(end), Some(1));
        assert_eq!((next.passed, next.depends_on), (true, waits_for), "after {last:?}");
    }
}
