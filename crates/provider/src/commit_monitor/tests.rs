//! Turns come in seqno order, whatever the order of the threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// A monitor with seqnos up to `seqno` ordered.
fn given(seqno: i64) -> CommitMonitor {
    let monitor = CommitMonitor::default();
    monitor.set_last_ordered(seqno);
    monitor
}

#[test]
fn threads_enter_in_seqno_order() {
    let monitor = CommitMonitor::default();
    monitor.reset_to(10);
    monitor.set_last_ordered(60);
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for seqno in (11..=60).rev() {
            let (monitor, order) = (&monitor, &order);
            scope.spawn(move || {
                monitor.enter(seqno, None).unwrap();
                order.lock().unwrap().push(seqno);
                monitor.leave(seqno);
                monitor.release(seqno);
            });
        }
    });
    assert_eq!(*order.lock().unwrap(), (11..=60).collect::<Vec<_>>());
    assert_eq!((monitor.last_left(), monitor.last_released()), (60, 60));
}

#[test]
fn an_interrupted_wait_ends_and_can_be_repeated() {
    let monitor = given(2);
    let interrupt = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(monitor.enter(2, Some(&interrupt))).unwrap());
        // Whether it waits already or not, it must return.
        interrupt.store(true, Ordering::SeqCst);
        monitor.interrupt(2);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(Err(EnterError::Interrupted)));
    });
    monitor.enter(1, None).unwrap();
    monitor.leave(1);
    assert_eq!(monitor.enter(2, None), Ok(()));
}

#[test]
fn last_released_needs_all_earlier_releases() {
    let monitor = given(3);
    for seqno in 1..=3 {
        monitor.enter(seqno, None).unwrap();
        monitor.leave(seqno);
    }
    monitor.release(3);
    monitor.release(2);
    assert_eq!(monitor.last_released(), 0);
    assert!(!monitor.wait_released(1, Some(Instant::now() + Duration::from_millis(5))));
    monitor.release(1);
    assert_eq!(monitor.last_released(), 3);
    assert!(monitor.wait_released(3, None));
}

#[test]
fn a_second_leave_changes_nothing() {
    let monitor = given(1);
    monitor.enter(1, None).unwrap();
    monitor.leave(1);
    monitor.leave(1);
    assert_eq!(monitor.last_left(), 1);
}

#[test]
fn a_self_cancelled_seqno_blocks_no_other() {
    let monitor = given(4);
    monitor.self_cancel(2);
    monitor.self_cancel(3);
    thread::scope(|scope| {
        scope.spawn(|| monitor.enter(4, None).unwrap());
        monitor.enter(1, None).unwrap();
        monitor.leave(1);
    });
    monitor.self_cancel(3);
    assert_eq!(monitor.last_left(), 3);
    monitor.self_cancel(4);
    assert_eq!(monitor.last_left(), 4);
}

#[test]
fn a_seqno_that_is_not_ordered_is_refused() {
    let monitor = given(2);
    assert_eq!(monitor.enter(3, None), Err(EnterError::NotAllowed), "the seqno is not ordered");
    assert!(!monitor.leave(2) && !monitor.leave(3), "before their turn");
    monitor.enter(1, None).unwrap();
    assert!(monitor.leave(1));
    assert_eq!(monitor.enter(1, None), Err(EnterError::NotAllowed), "it has left");
    monitor.enter(2, None).unwrap();
    assert!(monitor.leave(2));
    assert_eq!(monitor.last_left(), 2);
}

#[test]
fn a_wait_ends_when_another_thread_leaves_its_seqno() {
    let monitor = given(3);
    thread::scope(|scope| {
        let waits = scope.spawn(|| monitor.enter(3, None));
        monitor.self_cancel(3);
        monitor.self_cancel(2);
        monitor.self_cancel(1);
        // Whether it waited by then or came later.
        assert_eq!(waits.join().unwrap(), Err(EnterError::NotAllowed));
    });
}

#[test]
fn a_stranger_that_waits_for_a_seqno_does_not_keep_its_owner_out() {
    let monitor = given(3);
    let interrupt = AtomicBool::new(false);
    thread::scope(|scope| {
        let [stranger, owner] = [0, 1].map(|_| scope.spawn(|| monitor.enter(2, None)));
        let interrupted = scope.spawn(|| monitor.enter(2, Some(&interrupt)));
        while monitor.waits() < 3 {
            thread::yield_now();
        }
        interrupt.store(true, Ordering::SeqCst);
        monitor.interrupt(2);
        assert_eq!(interrupted.join().unwrap(), Err(EnterError::Interrupted));
        monitor.enter(1, None).unwrap();
        monitor.leave(1);
        assert_eq!([stranger.join().unwrap(), owner.join().unwrap()], [Ok(()), Ok(())]);
    });
    assert!(monitor.leave(2));
    assert_eq!(monitor.enter(3, None), Ok(()));
}

#[test]
fn a_turn_of_the_provider_s_own_counts_as_had_when_a_wrong_call_has_ended_it() {
    let monitor = given(2);
    assert!(monitor.leave(1), "nobody has entered");
    assert_eq!(monitor.enter(1, None), Err(EnterError::NotAllowed));
    assert_eq!([monitor.enter_own(1), monitor.enter_own(2)], [Ok(()), Ok(())]);
    assert_eq!(monitor.enter_own(3), Err(EnterError::NotAllowed), "the seqno is not ordered");
}

#[test]
fn closing_ends_all_waits() {
    let monitor = given(3);
    thread::scope(|scope| {
        let enters = scope.spawn(|| monitor.enter(2, None));
        let watches = scope.spawn(|| monitor.wait_released(3, None));
        monitor.close();
        assert_eq!(enters.join().unwrap(), Err(EnterError::Closed));
        assert!(!watches.join().unwrap());
    });
    assert_eq!(monitor.enter(1, None), Err(EnterError::Closed));
}

/// A monitor with three ordered seqnos, and the calls of the third.
fn called() -> (CommitMonitor, mpsc::Receiver<()>) {
    let monitor = given(3);
    let (sender, receiver) = mpsc::channel();
    monitor.call_on_turn(3, Call(Box::new(move || sender.send(()).unwrap())));
    (monitor, receiver)
}

#[test]
fn a_call_runs_once_when_its_turn_comes() {
    let (monitor, calls) = called();
    for seqno in 1..=2 {
        assert!(calls.try_recv().is_err(), "some are before it");
        monitor.enter(seqno, None).unwrap();
        monitor.leave(seqno);
    }
    assert_eq!(calls.try_recv(), Ok(()));
    assert_eq!(monitor.enter(3, None), Ok(()));
    monitor.leave(3);
    assert!(calls.try_recv().is_err());
}

#[test]
fn a_call_runs_after_self_cancelled_seqnos() {
    let (monitor, calls) = called();
    monitor.self_cancel(2);
    assert!(calls.try_recv().is_err());
    monitor.self_cancel(1);
    assert_eq!(calls.try_recv(), Ok(()));
}

#[test]
fn an_interrupt_and_the_close_run_a_call() {
    for end in [|monitor: &CommitMonitor| monitor.interrupt(3), CommitMonitor::close] {
        let (monitor, calls) = called();
        end(&monitor);
        assert_eq!(calls.try_recv(), Ok(()));
    }
}

#[test]
fn a_call_for_a_past_turn_or_after_the_close_runs_at_once() {
    let monitor = given(1);
    let (sender, calls) = mpsc::channel();
    let call = |sender: &mpsc::Sender<()>| {
        let sender = sender.clone();
        Call(Box::new(move || sender.send(()).unwrap()))
    };
    monitor.call_on_turn(1, call(&sender));
    assert_eq!(calls.try_recv(), Ok(()));
    monitor.close();
    monitor.call_on_turn(9, call(&sender));
    assert_eq!(calls.try_recv(), Ok(()));
}
