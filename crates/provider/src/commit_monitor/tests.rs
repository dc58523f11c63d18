//! Turns come in seqno order, whatever the order of the threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// A monitor with seqnos up to `seqno` ordered.
fn given(seqno: i64) -> CommitMonitor {
    let turns = CommitMonitor::default();
    turns.set_last_ordered(seqno);
    turns
}

#[test]
fn threads_enter_in_seqno_order() {
    let turns = CommitMonitor::default();
    turns.reset_to(10);
    turns.set_last_ordered(60);
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for seqno in (11..=60).rev() {
            let (turns, order) = (&turns, &order);
            scope.spawn(move || {
                turns.enter(seqno, None).unwrap();
                order.lock().unwrap().push(seqno);
                turns.leave(seqno);
                turns.release(seqno);
            });
        }
    });
    assert_eq!(*order.lock().unwrap(), (11..=60).collect::<Vec<_>>());
    assert_eq!((turns.last_left(), turns.last_released()), (60, 60));
}

#[test]
fn an_interrupted_wait_ends_and_can_be_repeated() {
    let turns = given(2);
    let interrupt = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(turns.enter(2, Some(&interrupt))).unwrap());
        // Whether it waits already or not, it must return.
        interrupt.store(true, Ordering::SeqCst);
        turns.interrupt(2);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(Err(EnterError::Interrupted)));
    });
    turns.enter(1, None).unwrap();
    turns.leave(1);
    assert_eq!(turns.enter(2, None), Ok(()));
}

#[test]
fn last_released_needs_all_earlier_releases() {
    let turns = given(3);
    for seqno in 1..=3 {
        turns.enter(seqno, None).unwrap();
        turns.leave(seqno);
    }
    turns.release(3);
    turns.release(2);
    assert_eq!(turns.last_released(), 0);
    assert!(!turns.wait_released(1, Some(Instant::now() + Duration::from_millis(5))));
    turns.release(1);
    assert_eq!(turns.last_released(), 3);
    assert!(turns.wait_released(3, None));
}

#[test]
fn a_second_leave_changes_nothing() {
    let turns = given(1);
    turns.enter(1, None).unwrap();
    turns.leave(1);
    turns.leave(1);
    assert_eq!(turns.last_left(), 1);
}

#[test]
fn a_self_cancelled_seqno_blocks_no_other() {
    let turns = given(4);
    turns.self_cancel(2);
    turns.self_cancel(3);
    thread::scope(|scope| {
        scope.spawn(|| turns.enter(4, None).unwrap());
        turns.enter(1, None).unwrap();
        turns.leave(1);
    });
    turns.self_cancel(3);
    assert_eq!(turns.last_left(), 3);
    turns.self_cancel(4);
    assert_eq!(turns.last_left(), 4);
}

#[test]
fn a_seqno_that_is_not_ordered_is_refused() {
    let turns = given(2);
    assert_eq!(turns.enter(3, None), Err(EnterError::NotAllowed), "nobody has that place");
    assert!(!turns.leave(2) && !turns.leave(3), "before their turn");
    turns.enter(1, None).unwrap();
    assert!(turns.leave(1));
    assert_eq!(turns.enter(1, None), Err(EnterError::NotAllowed), "it has left");
    turns.enter(2, None).unwrap();
    assert!(turns.leave(2));
    assert_eq!(turns.last_left(), 2);
}

#[test]
fn a_wait_ends_when_another_thread_leaves_its_seqno() {
    let turns = given(3);
    thread::scope(|scope| {
        let waits = scope.spawn(|| turns.enter(3, None));
        turns.self_cancel(3);
        turns.self_cancel(2);
        turns.self_cancel(1);
        // Whether it waited by then or came later.
        assert_eq!(waits.join().unwrap(), Err(EnterError::NotAllowed));
    });
}

#[test]
fn closing_ends_all_waits() {
    let turns = given(3);
    thread::scope(|scope| {
        let enters = scope.spawn(|| turns.enter(2, None));
        let watches = scope.spawn(|| turns.wait_released(3, None));
        turns.close();
        assert_eq!(enters.join().unwrap(), Err(EnterError::Closed));
        assert!(!watches.join().unwrap());
    });
    assert_eq!(turns.enter(1, None), Err(EnterError::Closed));
}

/// A monitor with three ordered seqnos, and the calls of the third.
fn called() -> (CommitMonitor, mpsc::Receiver<()>) {
    let turns = given(3);
    let (sender, receiver) = mpsc::channel();
    turns.call_on_turn(3, Call(Box::new(move || sender.send(()).unwrap())));
    (turns, receiver)
}

#[test]
fn a_call_runs_once_when_its_turn_comes() {
    let (turns, calls) = called();
    for seqno in 1..=2 {
        assert!(calls.try_recv().is_err(), "some are before it");
        turns.enter(seqno, None).unwrap();
        turns.leave(seqno);
    }
    assert_eq!(calls.try_recv(), Ok(()));
    assert_eq!(turns.enter(3, None), Ok(()));
    turns.leave(3);
    assert!(calls.try_recv().is_err());
}

#[test]
fn a_call_runs_after_self_cancelled_seqnos() {
    let (turns, calls) = called();
    turns.self_cancel(2);
    assert!(calls.try_recv().is_err());
    turns.self_cancel(1);
    assert_eq!(calls.try_recv(), Ok(()));
}

#[test]
fn an_interrupt_and_the_close_run_a_call() {
    for end in [|turns: &CommitMonitor| turns.interrupt(3), CommitMonitor::close] {
        let (turns, calls) = called();
        end(&turns);
        assert_eq!(calls.try_recv(), Ok(()));
    }
}

#[test]
fn a_call_for_a_past_turn_or_after_the_close_runs_at_once() {
    let turns = given(1);
    let (sender, calls) = mpsc::channel();
    let call = |sender: &mpsc::Sender<()>| {
        let sender = sender.clone();
        Call(Box::new(move || sender.send(()).unwrap()))
    };
    turns.call_on_turn(1, call(&sender));
    assert_eq!(calls.try_recv(), Ok(()));
    turns.close();
    turns.call_on_turn(9, call(&sender));
    assert_eq!(calls.try_recv(), Ok(()));
}
