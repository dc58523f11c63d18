//! The rule from traces, and workers at the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::{QueueDepth, Throttle, allowed};

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

#[test]
fn no_more_are_inside_than_allowed() {
    let throttle = Arc::new(Throttle::open());
    throttle.allow(2);
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..20 {
                    throttle.enter(&|| false);
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    throttle.leave();
                }
            });
        }
    });
    assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
}

#[test]
fn who_is_held_goes_on_when_there_is_room_and_when_the_load_is_over() {
    let throttle = Throttle::open();
    throttle.allow(0);
    let (passed, over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            throttle.enter(&|| false);
            passed.store(true, Ordering::SeqCst);
        });
        // It has waited, and is waiting again.
        while throttle.held().is_zero() {
            thread::yield_now();
        }
        assert!(!passed.load(Ordering::SeqCst));
        throttle.allow(1);
    });
    assert!(passed.load(Ordering::SeqCst));
    thread::scope(|scope| {
        scope.spawn(|| throttle.enter(&|| over.load(Ordering::SeqCst)));
        over.store(true, Ordering::SeqCst);
    });
}
