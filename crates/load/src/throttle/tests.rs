//! Limits as they are written, the rule, the rate, and threads that wait.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hortator_core::WriteSet;
use hortator_mysql::catalog::TableName;

use super::decision::{Answer, Decision, Lag, UNKNOWN_TIMEOUT, decide};
use super::file::read_limits;
use super::rate::{BURST_S, Bucket};
use super::{Throttle, ThrottleLimits, Unreachable};
use crate::apply::{Chunk, Pool, Work};
use crate::deferred_keys::Origin;
use crate::lexer::Dialect;

#[test]
fn limits_are_read_as_they_are_written() {
    let cases = [
        ("", ""),
        ("threads=30,rate=50000,lag=5", "threads=30,rate=50000,lag=5"),
        (" lag = 0.5 ,\n# a comment, with a comma\nrate=1 # slow\n\nthreads=2\n", "threads=2,rate=1,lag=0.5"),
        ("bytes=3", "bytes=3"),
        ("bytes=2K", "bytes=2048"),
        ("bytes=1m,pause", "pause,bytes=1048576"),
        ("pause=no,lag=1", "pause=no,lag=1"),
        ("pause,pause = no", "pause=no"),
        ("bytes=4G", "bytes=4294967296"),
        ("lag=0", "lag=0"),
        ("rate=1,rate=2", "rate=2"),
    ];
    for (text, expected) in cases {
        let limits: ThrottleLimits = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(limits.to_string(), expected, "{text}");
        assert_eq!(limits.to_string().parse(), Ok(limits));
    }
    for text in [
        "threads",
        "threads=",
        "threads=0",
        "threads=-1",
        "threads=+1",
        "rate=1.5",
        "rate=1K",
        "bytes=K",
        "bytes=1T",
        "lag=x",
        "lag=-1",
        "lag=inf",
        "lag=NaN",
        "lag=1e3",
        "pause=1",
        "load=3",
        "rate=50000 lag=5",
        "bytes=99999999999G",
        "é=1",
        "bytes=é",
    ] {
        let error = text.parse::<ThrottleLimits>().expect_err(text).to_string();
        assert!(error.contains(text) && error.contains("threads=N"), "{error}");
    }
}

#[test]
fn limits_of_the_file_take_the_place_of_others() {
    let (file, asked): (ThrottleLimits, ThrottleLimits) =
        ("rate=7,pause".parse().unwrap(), "rate=5,lag=2,threads=3".parse().unwrap());
    assert_eq!(file.or(asked).to_string(), "pause,threads=3,rate=7,lag=2");
    let (file, asked): (ThrottleLimits, ThrottleLimits) = ("pause=no".parse().unwrap(), "pause".parse().unwrap());
    assert_eq!(decision_of(&file.or(asked)).allowed, usize::MAX);
    assert_eq!(decision_of(&ThrottleLimits::default().or(asked)).allowed, 0);
}

/// Limits, statements of others, lags; how many chunks may be under way, and why.
type Case<'c> = (&'c str, Option<Answer<u64>>, &'c [Lag], Unreachable, usize, Option<String>);

#[test]
fn the_rule() {
    let known = Lag::Known;
    let unknown = |since| Lag::Unknown { since: Duration::from_secs(since), reason: "no answer".to_owned() };
    let paused = |words: &str| Some(words.to_owned());
    let (wait, ignore) = (Unreachable::Wait, Unreachable::Ignore);
    let late = UNKNOWN_TIMEOUT.as_secs();
    let runs = |others| Some(Answer::Known(others));
    let silent = |since| Some(Answer::Unknown { since: Duration::from_secs(since), reason: "no answer".to_owned() });
    let cases: [Case<'_>; 17] = [
        ("", runs(1000), &[known(1000.0)], wait, usize::MAX, None),
        ("pause", None, &[], wait, 0, paused("as asked for")),
        ("lag=5", None, &[known(5.0), known(0.0)], wait, usize::MAX, None),
        ("lag=5", None, &[known(0.0), known(5.5)], wait, 0, paused("replica r1 lags 5.5 s behind (lag=5)")),
        ("lag=0", None, &[known(0.0)], wait, usize::MAX, None),
        ("lag=5", None, &[known(0.0), unknown(1)], wait, 0, paused("the lag of replica r1 is unknown: no answer")),
        ("lag=5", None, &[unknown(1)], ignore, usize::MAX, None),
        ("lag=5", None, &[unknown(late - 1)], wait, 0, paused("the lag of replica r0 is unknown: no answer")),
        ("lag=5", None, &[unknown(late)], wait, usize::MAX, None),
        ("lag=5", None, &[unknown(late), known(6.0)], wait, 0, paused("replica r1 lags 6.0 s behind (lag=5)")),
        ("threads=3", None, &[], wait, 3, paused("the server runs as many statements as threads=3 allows")),
        ("threads=3", runs(0), &[], wait, 3, paused("the server runs as many statements as threads=3 allows")),
        ("threads=3", runs(2), &[], wait, 1, paused("the server runs as many statements as threads=3 allows")),
        ("threads=3", runs(3), &[], wait, 0, paused("the server runs 3 statements of others (threads=3)")),
        (
            "threads=3",
            silent(late - 1),
            &[],
            wait,
            0,
            paused("the server does not tell its running statements (threads=3): no answer"),
        ),
        ("threads=3", silent(late), &[], wait, 3, paused("the server runs as many statements as threads=3 allows")),
        ("threads=3,lag=1", runs(9), &[known(2.0)], wait, 0, paused("replica r0 lags 2.0 s behind (lag=1)")),
    ];
    for (limits, others, lags, unreachable, allowed, reason) in cases {
        let names: Vec<String> = (0..lags.len()).map(|number| format!("r{number}")).collect();
        let replicas = names.iter().map(String::as_str).zip(lags);
        let found = decide(&limits.parse().unwrap(), others.clone(), replicas, unreachable);
        assert_eq!(found, Decision { allowed, reason }, "{limits} {others:?} {lags:?}");
    }
}

#[test]
fn no_more_comes_than_the_rate_allows() {
    let start = Instant::now();
    let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
    let mut bucket = Bucket::default();
    assert_eq!(bucket.wait(at(0.0)), None);
    bucket.charge(1_000_000, at(0.0));
    assert_eq!(bucket.wait(at(0.0)), None, "there is no limit");
    bucket.set(Some(100), at(0.0));
    assert_eq!(bucket.wait(at(0.0)), None);
    // However much each takes, the sum is that of the rate, and what was saved up.
    let (mut now, mut done) = (0.0, 0);
    for amount in [1, 250, 3, 90, 1000, 50, 50, 0, 7] {
        while let Some(wait) = bucket.wait(at(now)) {
            now += wait.as_secs_f64() + 1e-6;
        }
        assert!(done as f64 <= 100.0 * now + 100.0 * BURST_S + 1.0, "{done} in {now} s");
        bucket.charge(amount, at(now));
        done += amount;
    }
    // What is owed is paid at the new rate, and with no rate not at all.
    bucket.charge(1000, at(now));
    let owed = bucket.wait(at(now)).unwrap();
    bucket.set(Some(1000), at(now));
    let less = bucket.wait(at(now)).unwrap();
    assert!(less < owed / 9 && less > owed / 11, "{owed:?} {less:?}");
    bucket.set(None, at(now));
    assert_eq!(bucket.wait(at(now)), None);
    // An hour without work saves up half a second.
    bucket.set(Some(100), at(now));
    bucket.charge(51, at(now + 3600.0));
    assert!(bucket.wait(at(now + 3600.0)).is_some());
    // Clocks may stand still.
    bucket.charge(1, at(now));
    assert_eq!((bucket.share(4), Bucket::default().share(4)), (Some(12), None));
    bucket.set(Some(1), at(now));
    assert_eq!(bucket.share(16), Some(1));
}

#[test]
fn a_file_is_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits");
    assert_eq!(read_limits(&path), Ok(ThrottleLimits::default()));
    fs::write(&path, "rate=5\n").unwrap();
    assert_eq!(read_limits(&path).unwrap().to_string(), "rate=5");
    let told = |words: &str| {
        let error = read_limits(&path).unwrap_err();
        assert!(error.contains(words) && error.contains("limits"), "{error}");
    };
    fs::write(&path, "rate=many\n").unwrap();
    told("rate=many");
    fs::write(&path, "#".repeat(5000)).unwrap();
    told("more than 4096 bytes");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    told("is no limit");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    told("not a regular file");
    fs::remove_dir(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    told("not a regular file");
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
                    throttle.leave(1, 1);
                }
            });
        }
    });
    assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
}

/// Waits as a worker until `open` is called, and then no more; and until the load is over.
fn check_wait(throttle: &Throttle, open: impl FnOnce()) {
    let (passed, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let waited = || throttle.held() + throttle.delays().0 + throttle.delays().1;
    let before = waited();
    thread::scope(|scope| {
        scope.spawn(|| {
            throttle.enter(&|| over.load(Ordering::SeqCst));
            passed.store(true, Ordering::SeqCst);
        });
        // It has waited, and is waiting again.
        while waited() == before {
            thread::yield_now();
        }
        assert!(!passed.load(Ordering::SeqCst));
        open();
    });
    assert!(passed.load(Ordering::SeqCst));
    throttle.leave(0, 0);
}

/// The decision where nobody else runs a statement.
fn decision_of(limits: &ThrottleLimits) -> Decision {
    decide(limits, Some(Answer::Known(0)), std::iter::empty(), Unreachable::Wait)
}

fn decision(text: &str) -> Decision {
    decision_of(&text.parse().unwrap())
}

#[test]
fn who_is_held_goes_on_when_there_is_room() {
    let throttle = Throttle::open();
    throttle.allow(0);
    check_wait(&throttle, || throttle.allow(1));
    throttle.decide(decision("pause"));
    check_wait(&throttle, || throttle.decide(decision("")));
    throttle.set_rate(&"rate=1".parse().unwrap());
    throttle.charge(1000, 0);
    check_wait(&throttle, || throttle.set_rate(&ThrottleLimits::default()));
    throttle.set_rate(&"bytes=1".parse().unwrap());
    throttle.charge(0, 1000);
    check_wait(&throttle, || throttle.set_rate(&ThrottleLimits::default()));
    assert_eq!(throttle.reason(), None);
}

#[test]
fn who_is_held_goes_on_when_the_load_is_over() {
    let throttle = Throttle::open();
    throttle.decide(decision("pause"));
    throttle.enter(&|| true);
    throttle.wait(&mut || true);
    throttle.wait_while_paused(&mut || true);
    assert_eq!(throttle.reason(), None, "nobody waits");
}

#[test]
fn a_worker_that_waits_for_a_chunk_leaves_when_limits_are_reached() {
    let throttle = Throttle::open();
    throttle.enter(&|| false);
    assert!(!throttle.is_held());
    throttle.enter(&|| false);
    throttle.decide(decision("threads=1"));
    assert!(throttle.is_held(), "two are inside");
    throttle.leave(0, 0);
    assert!(!throttle.is_held());
    throttle.decide(decision("pause"));
    assert!(throttle.is_held());
    throttle.decide(decision(""));
    throttle.set_rate(&"rate=1".parse().unwrap());
    throttle.charge(5, 0);
    assert!(throttle.is_held());
}

/// Two workers wait for a chunk when the limits come to allow one of them: whoever is woken for the chunk and leaves it, wakes
/// the other.
#[test]
fn a_chunk_that_one_worker_leaves_is_taken_by_another() {
    const LIMIT: Duration = Duration::from_secs(60);
    let pool = Pool::new(2, 1 << 20, false);
    let throttle = Throttle::open();
    let (sender, taken) = mpsc::channel();
    let table = TableName { schema: b"d".to_vec(), table: b"t".to_vec() };
    let work = Work::DropKeys { table, origin: Origin::Created };
    let chunk = Chunk { work, session: Arc::default(), dialect: Dialect::mariadb(101_100), statements: Vec::new() };
    let found = thread::scope(|scope| {
        for _ in 0..2 {
            let (pool, throttle, sender) = (&pool, &throttle, sender.clone());
            scope.spawn(move || {
                while let Some((seqno, _)) = pool.next(throttle) {
                    sender.send(seqno).unwrap();
                    pool.complete(seqno, None);
                    throttle.leave(0, 0);
                }
            });
        }
        while pool.waiting_workers() < 2 {
            thread::yield_now();
        }
        throttle.decide(decision("threads=1"));
        pool.admit(WriteSet::new(), 1, chunk, &mut || ()).unwrap();
        let found = taken.recv_timeout(LIMIT);
        throttle.decide(Decision::OPEN);
        pool.close();
        found
    });
    assert!(found.is_ok(), "nobody takes the chunk");
}
