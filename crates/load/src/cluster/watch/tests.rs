//! What follows from looks at a node: its counters over a restart, what it counts for the gate, whether it has everything.

use std::time::{Duration, Instant};

use super::{Has, LOOK_AGE_LIMIT, SILENCE_LIMIT, STANDSTILL_LIMIT, Sample, Seen};

fn sample() -> Sample {
    Sample { waiting: 3, limit: 16.0, last_committed: 100, is_member: true, is_synced: true, ..Sample::default() }
}

fn seen(sample: Sample) -> Seen {
    let mut seen = Seen::default();
    seen.take(sample);
    seen
}

/// A look that is fresh however long the test takes.
fn fresh(sample: Sample) -> Seen {
    Seen { latest: Some((Instant::now() + Duration::from_secs(3_600), sample)), ..seen(sample) }
}

fn ago(duration: Duration) -> Instant {
    Instant::now().checked_sub(duration).expect("the machine has been up for longer")
}

#[test]
fn counters_count_from_the_load_on_also_where_a_node_is_started_again() {
    let mut seen = seen(Sample { paused_ns: 1_000, stops: 7, ..sample() });
    assert_eq!((seen.paused_ns, seen.stops), (0, 0));
    seen.take(Sample { paused_ns: 1_500, stops: 9, waiting: 20, ..sample() });
    assert_eq!((seen.paused_ns, seen.stops, seen.most_waiting), (500, 2, 20));
    seen.take(Sample { paused_ns: 800, stops: 1, ..sample() });
    assert_eq!((seen.paused_ns, seen.stops, seen.most_waiting), (800, 2, 20));
}

#[test]
fn only_nodes_that_can_stop_the_cluster_count_for_the_gate() {
    assert!(fresh(sample()).look().is_some());
    assert!(fresh(Sample { is_synced: false, ..sample() }).look().is_none());
    assert!(fresh(Sample { is_member: false, ..sample() }).look().is_none());
    let mut old = seen(sample());
    old.latest = Some((ago(LOOK_AGE_LIMIT), sample()));
    assert!(old.look().is_none());
}

#[test]
fn a_node_has_everything_once_it_has_applied_it() {
    let start = Instant::now();
    let long_ahead = start + Duration::from_secs(3_600);
    let mut moved = (100, long_ahead);
    assert_eq!(seen(sample()).has(100, start, &mut moved), Has::Everything);
    assert_eq!(seen(sample()).has(101, start, &mut moved), Has::NotYet);
    // It has moved.
    moved = (99, ago(STANDSTILL_LIMIT));
    assert_eq!(fresh(sample()).has(101, start, &mut moved), Has::NotYet);
    assert_eq!(moved.0, 100);
    // It has not moved for too long.
    moved.1 = ago(STANDSTILL_LIMIT);
    assert_eq!(seen(sample()).has(101, start, &mut moved), Has::Gone);
    assert_eq!(seen(Sample { is_member: false, ..sample() }).has(100, start, &mut moved), Has::Gone);
}

#[test]
fn a_look_from_before_the_last_commit_says_nothing() {
    let mut before = seen(sample());
    before.latest = Some((ago(Duration::from_secs(1)), sample()));
    assert_eq!(before.has(100, Instant::now(), &mut (0, Instant::now())), Has::NotYet);
}

#[test]
fn a_node_that_does_not_answer_is_waited_for_a_while_if_it_ever_did() {
    let start = Instant::now();
    let mut seen = seen(sample());
    let long_ahead = start + Duration::from_secs(3_600);
    seen.away = Some(long_ahead);
    assert_eq!(seen.has(101, start, &mut (100, long_ahead)), Has::NotYet);
    seen.away = Some(ago(SILENCE_LIMIT));
    assert_eq!(seen.has(100, start, &mut (0, start)), Has::Gone);
    let never = Seen { was_away: true, ..Seen::default() };
    assert_eq!(never.has(100, start, &mut (0, start)), Has::Gone);
}
