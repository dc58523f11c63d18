//! Rounds of group commit, one step at a time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::super::Error;
use super::super::group_commit::GroupCommit;

/// The second thread comes while the first leads, and no other ever comes: it must wake and lead its own round.
#[test]
fn a_late_thread_leads_the_next_round() {
    let (group_commit, appended, written) = (&GroupCommit::default(), &AtomicU64::new(1), &AtomicU64::new(0));
    let (started, first_leads) = mpsc::channel();
    let (go_on, release) = mpsc::channel::<()>();
    let (finished, second_done) = mpsc::channel();
    let (asked, second_asked) = mpsc::channel();
    let take = || (appended.load(Ordering::SeqCst), appended.load(Ordering::SeqCst));
    thread::scope(|scope| {
        scope.spawn(move || {
            let done = || written.load(Ordering::SeqCst) >= 1;
            let work = |upto| {
                started.send(()).unwrap();
                release.recv().unwrap();
                written.store(upto, Ordering::SeqCst);
                Ok(())
            };
            group_commit.wait_until(1, done, take, work).unwrap();
        });
        first_leads.recv().unwrap();
        appended.store(2, Ordering::SeqCst);
        scope.spawn(move || {
            let done = || {
                asked.send(()).unwrap();
                written.load(Ordering::SeqCst) >= 2
            };
            let work = |upto| {
                written.store(upto, Ordering::SeqCst);
                Ok(())
            };
            group_commit.wait_until(2, done, take, work).unwrap();
            finished.send(()).unwrap();
        });
        // The second check is under the lock, which is held until the wait.
        second_asked.recv().unwrap();
        second_asked.recv().unwrap();
        go_on.send(()).unwrap();
        if second_done.recv_timeout(Duration::from_secs(30)).is_err() {
            eprintln!("the second was never woken");
            std::process::abort();
        }
    });
    assert_eq!(written.load(Ordering::SeqCst), 2);
}

#[test]
fn a_panicking_leader_leaves_no_thread_waiting() {
    let group_commit = &GroupCommit::default();
    let lead = || group_commit.wait_until(1, || false, || (1, ()), |()| panic!("as if"));
    assert!(thread::scope(|scope| scope.spawn(lead).join()).is_err());
    let error = group_commit.wait_until(1, || false, || (1, ()), |()| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }) && error.to_string().contains("panicked"), "{error}");
    assert!(group_commit.broken().is_some());
}
