//! The receiving threads: parallel and exclusive work, and a thread's replacement.

use std::thread;

use super::*;
use crate::entry::WriteSetHead;
use crate::identity::Uuid;
use crate::node::delivery::Delivered;
use crate::server::Flags;

fn write_set(seqno: i64) -> Work {
    let head =
        WriteSetHead { flags: Flags(0x41), source: Uuid::UNDEFINED, trx: 1, conn: 1, last_seen: 0, request_id: 0 };
    let entry = Delivered::WriteSet { head, data: vec![0; 100], passed: true, depends_on: 0 };
    Work::Deliver(Delivery { seqno, entry, is_replay: false, is_logged: false })
}

fn seqno(work: &Work) -> i64 {
    if let Work::Deliver(delivery) = work { delivery.seqno } else { panic!("{work:?} is no write set") }
}

/// Connected, with the first work taken.
fn connected() -> RecvQueue {
    let receiving = RecvQueue::default();
    assert!(receiving.connect());
    receiving.add_thread();
    assert!(matches!(receiving.next(), Some((Work::Begin, _))));
    receiving
}

#[test]
fn write_sets_run_in_parallel_started_in_order() {
    let receiving = connected();
    (1..=3).for_each(|seqno| assert!(receiving.push(write_set(seqno))));
    let taken: Vec<_> = (0..3).map(|_| receiving.next().unwrap()).collect();
    assert_eq!(taken.iter().map(|(work, _)| seqno(work)).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(receiving.queued(), 3, "they count until they are delivered");
    assert!(receiving.queued_bytes() >= 300);
}

#[test]
fn other_work_runs_alone() {
    let receiving = connected();
    receiving.push(write_set(1));
    receiving.push(Work::NonPrimary);
    receiving.push(write_set(2));
    let (first, taken) = receiving.next().unwrap();
    assert_eq!(seqno(&first), 1);
    thread::scope(|scope| {
        receiving.add_thread();
        let (sender, received) = std::sync::mpsc::channel();
        let receiving = &receiving;
        scope.spawn(move || {
            for _ in 0..2 {
                let (work, _taken) = receiving.next().unwrap();
                sender.send(format!("{work:?}")).unwrap();
            }
        });
        assert!(received.recv_timeout(Duration::from_millis(100)).is_err(), "while a write set is under way");
        drop(taken);
        assert_eq!(received.recv().unwrap(), "NonPrimary");
        assert!(received.recv().unwrap().contains("seqno: 2"));
    });
}

#[test]
fn a_lost_quorum_is_told_behind_the_pause_of_an_sst() {
    let receiving = connected();
    receiving.is_donating.store(true, Ordering::SeqCst);
    receiving.hold(true);
    receiving.push(Work::NonPrimary);
    thread::scope(|scope| {
        let (sender, received) = std::sync::mpsc::channel();
        let receiving = &receiving;
        scope.spawn(move || {
            let (work, _taken) = receiving.next().unwrap();
            sender.send(format!("{work:?}")).unwrap();
        });
        assert!(received.recv_timeout(Duration::from_millis(100)).is_err(), "while the server sends");
        receiving.hold(false);
        assert_eq!(received.recv().unwrap(), "NonPrimary");
    });
    // One that leaves has no time for that.
    receiving.hold(true);
    receiving.push(Work::NonPrimary);
    receiving.disconnect();
    assert!(matches!(receiving.next(), Some((Work::NonPrimary, _))));
}

#[test]
fn a_write_set_that_is_in_the_binary_log_runs_alone() {
    let receiving = connected();
    let Work::Deliver(delivery) = write_set(1) else { panic!("it is one") };
    receiving.push(Work::Deliver(Delivery { is_logged: true, ..delivery }));
    receiving.push(write_set(2));
    let (first, _taken) = receiving.next().unwrap();
    assert_eq!(seqno(&first), 1);
    assert!(receiving.lock().is_exclusive, "the next one waits");
}

#[test]
fn another_thread_replaces_one_that_panics() {
    let receiving = RecvQueue::default();
    assert!(receiving.connect());
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            receiving.add_thread();
            let _taken = receiving.next().unwrap();
            panic!("a fault, as the test wants it");
        });
        assert!(first.join().is_err());
        let second = scope.spawn(|| {
            receiving.add_thread();
            let (work, taken) = receiving.next().unwrap();
            assert!(matches!(work, Work::Leave));
            drop(taken);
            receiving.remove_thread(true)
        });
        // Until another thread can do the leave.
        while lock(&receiving.state).threads == 0 {
            thread::yield_now();
        }
        receiving.disconnect();
        assert!(second.join().unwrap());
    });
    assert!(!receiving.is_connected());
}

#[test]
fn a_start_waits_for_the_end_of_a_pause_unless_the_node_leaves() {
    let receiving = connected();
    assert!(!receiving.holds_start());
    receiving.hold(true);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| receiving.wait_while_start_is_held());
        thread::sleep(Duration::from_millis(50));
        assert!(receiving.holds_start() && !waiting.is_finished());
        receiving.hold(false);
    });
    receiving.hold(true);
    receiving.disconnect();
    assert!(!receiving.holds_start());
    receiving.wait_while_start_is_held();
}
