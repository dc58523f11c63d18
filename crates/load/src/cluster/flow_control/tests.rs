//! The rule from traces.

use super::{QueueDepth, allowed};

fn depth(waiting: u64, limit: f64) -> QueueDepth {
    QueueDepth { waiting, limit }
}

#[test]
fn the_room_is_what_the_slowest_node_has_left() {
    // Three nodes with Galera's default limit of 16: 16 × √3 = 27.7.
    let trace = [(0, 13), (1, 12), (5, 8), (6, 7), (7, 0), (13, 0), (27, 0), (1000, 0)];
    for (waiting, expected) in trace {
        let depths = [depth(0, 27.7), depth(waiting, 27.7), depth(0, 27.7)];
        assert_eq!(allowed(&depths, 16), expected, "{waiting} wait");
        assert_eq!(allowed(&depths, 4), expected.min(4), "{waiting} wait");
    }
}

#[test]
fn a_cluster_that_keeps_up_slows_nobody_down() {
    assert_eq!(allowed(&[], 16), 16);
    assert_eq!(allowed(&[depth(0, 173.2), depth(2, 173.2)], 16), 16);
}

#[test]
fn however_small_the_limit_is_somebody_comes_through() {
    for limit in [0.0, 1.0, 1.7, 2.0] {
        assert_eq!(allowed(&[depth(0, limit)], 8), 1, "{limit}");
        assert_eq!(allowed(&[depth(1, limit)], 8), 0, "{limit}");
    }
}
