//! How long it takes a node to catch up, and what the writers get.

use super::*;

const SECOND_MS: u64 = 1_000;

/// Runs a node that applies `speed` seqnos in 100 s, and writers that want to write `writes` a second, until the node lacks
/// less than 64 seqnos. Returns the seconds that took, up to `limit`, and how many seqnos were written meanwhile.
fn catch_up(lacks: i64, speed: i64, writes: i64, limit: u64) -> (u64, i64) {
    let mut last = lacks;
    let mut node = CatchingUp::new(0, 0, last);
    for now_ms in (0..limit * SECOND_MS).step_by(20) {
        let applied = share(speed, now_ms, 100_000).min(last);
        node.update(now_ms, applied, last, false);
        if last - applied < 64 {
            return (now_ms / SECOND_MS, last - lacks);
        }
        last += if node.must_be_waited_for(last) { 0 } else { writes / 50 };
    }
    (limit, last - lacks)
}

#[test]
fn a_node_that_catches_up_by_itself_holds_nobody_back() {
    assert_eq!(catch_up(100_000, 100_000, 0, 1_000), (99, 0));
    let (seconds, written) = catch_up(100_000, 120_000, 1_000, 1_000);
    assert!((495..505).contains(&seconds), "{seconds}");
    assert_eq!(written / 10_000, 49, "nothing was held back");
}

#[test]
fn writers_get_half_the_speed_of_a_node_that_does_not_catch_up() {
    for writes in [1_000, 2_000, 5_000] {
        let (seconds, written) = catch_up(10_000, 100_000, writes, 1_000);
        let lacked = 10_000 + 10 * (writes - 1_000);
        let expected = u64::try_from(lacked / 500).unwrap() + 10;
        // It is there with the last 64.
        assert!((expected - 1..expected + 10).contains(&seconds), "{writes} a second: {seconds} s, not {expected}");
        let helped = i64::try_from(seconds).unwrap() - 10;
        let of_writers = 10 * writes + 500 * helped;
        assert!((written - of_writers).abs() < of_writers / 10, "{written}, not {of_writers}");
    }
}

#[test]
fn writers_keep_a_tenth_of_their_speed_and_wait_in_vain_for_ten_minutes_at_most() {
    // One seqno in four seconds.
    let (_, written) = catch_up(100_000, 25, 1_000, 610);
    assert!((10 * 1_000 + 600 * 95..10 * 1_000 + 600 * 110).contains(&written), "{written} in ten minutes");
    let (_, later) = catch_up(100_000, 25, 1_000, 710);
    assert!(later - written > 95_000, "{} in the next 100 s", later - written);
}

#[test]
fn nobody_waits_for_a_node_that_is_stuck_or_receives_its_tables() {
    let mut node = CatchingUp::new(0, 100, 1_000);
    let mut last = 1_000;
    for second in 1..100 {
        last += 1_000;
        node.update(second * SECOND_MS, 100, last, false);
        assert!(!node.must_be_waited_for(last));
    }
    // It has its tables, and begins to apply: it has its time again.
    for step in 1..450 {
        last += 40;
        node.update(100 * SECOND_MS + step * 20, 90_000 + i64::try_from(step).unwrap(), last, false);
        assert!(!node.must_be_waited_for(last), "after {} ms", step * 20);
    }
    // Then it gets help, and is stuck.
    node.update(111 * SECOND_MS, 91_000, last, false);
    assert!(matches!(node.help, Help::Given { .. }));
    node.update(112 * SECOND_MS, 91_000, last + 1_000, false);
    assert!(node.must_be_waited_for(last + 1_000));
    node.update(117 * SECOND_MS, 91_000, last + 1_000, false);
    assert!(!node.must_be_waited_for(last + 1_000));
}

#[test]
fn nobody_waits_for_a_node_that_only_waits_for_its_place() {
    let mut node = CatchingUp::new(0, 1_000, 1_010);
    for step in 1..3_000 {
        let last = 1_010 + 20 * i64::try_from(step).unwrap();
        node.update(step * 20, last - 10, last, true);
        assert!(!node.must_be_waited_for(last + 10_000));
    }
}
