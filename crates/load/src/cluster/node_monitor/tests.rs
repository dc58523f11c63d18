//! What follows from looks at a node: its counters over a restart, what it counts for the gate, whether it has everything.

use std::time::{Duration, Instant};

use super::{CatchUp, NodeSample, NodeView, SAMPLE_MAX_AGE, SILENCE_TIMEOUT, STANDSTILL_TIMEOUT};

fn sample() -> NodeSample {
    NodeSample {
        waiting: 3,
        limit: 16.0,
        last_committed: 100,
        is_member: true,
        is_synced: true,
        ..NodeSample::default()
    }
}

fn view(sample: NodeSample) -> NodeView {
    let mut view = NodeView::default();
    view.take(sample);
    view
}

fn ago(duration: Duration) -> Instant {
    Instant::now().checked_sub(duration).expect("the machine has been up for longer")
}

#[test]
fn counters_count_from_the_load_on_also_where_a_node_is_started_again() {
    let mut view = view(NodeSample { paused_ns: 1_000, stops: 7, ..sample() });
    assert_eq!((view.paused_ns, view.stops), (0, 0));
    view.take(NodeSample { paused_ns: 1_500, stops: 9, waiting: 20, ..sample() });
    assert_eq!((view.paused_ns, view.stops, view.most_waiting), (500, 2, 20));
    view.take(NodeSample { paused_ns: 800, stops: 1, ..sample() });
    assert_eq!((view.paused_ns, view.stops, view.most_waiting), (800, 2, 20));
}

#[test]
fn only_nodes_that_can_stop_the_cluster_count_for_the_throttle() {
    assert!(view(sample()).queue_depth().is_some());
    assert!(view(NodeSample { is_synced: false, ..sample() }).queue_depth().is_none());
    assert!(view(NodeSample { is_member: false, ..sample() }).queue_depth().is_none());
    let mut old = view(sample());
    old.latest = Some((ago(SAMPLE_MAX_AGE), sample()));
    assert!(old.queue_depth().is_none());
}

#[test]
fn a_node_has_everything_once_it_has_applied_it() {
    let start = Instant::now();
    let mut moved = (0, start);
    assert_eq!(view(sample()).catch_up(100, start, &mut moved, STANDSTILL_TIMEOUT), CatchUp::Complete);
    assert_eq!(view(sample()).catch_up(101, start, &mut moved, STANDSTILL_TIMEOUT), CatchUp::Pending);
    assert_eq!(moved.0, 100);
    // It has not moved for too long.
    moved.1 = ago(STANDSTILL_TIMEOUT);
    assert_eq!(view(sample()).catch_up(101, start, &mut moved, STANDSTILL_TIMEOUT), CatchUp::Lost);
    assert_eq!(
        view(NodeSample { is_member: false, ..sample() }).catch_up(100, start, &mut moved, STANDSTILL_TIMEOUT),
        CatchUp::Lost
    );
}

#[test]
fn a_look_from_before_the_last_commit_says_nothing() {
    let mut before = view(sample());
    before.latest = Some((ago(Duration::from_secs(1)), sample()));
    assert_eq!(before.catch_up(100, Instant::now(), &mut (0, Instant::now()), STANDSTILL_TIMEOUT), CatchUp::Pending);
}

#[test]
fn a_node_that_does_not_answer_is_waited_for_a_while_if_it_ever_did() {
    let start = Instant::now();
    let mut view = view(sample());
    view.unreachable_since = Some(start);
    assert_eq!(view.catch_up(101, start, &mut (0, start), STANDSTILL_TIMEOUT), CatchUp::Pending);
    view.unreachable_since = Some(ago(SILENCE_TIMEOUT));
    assert_eq!(view.catch_up(100, start, &mut (0, start), STANDSTILL_TIMEOUT), CatchUp::Lost);
    let never = NodeView { was_unreachable: true, ..NodeView::default() };
    assert_eq!(never.catch_up(100, start, &mut (0, start), STANDSTILL_TIMEOUT), CatchUp::Lost);
}
