//! Servers that tests share, one test at a time, and what becomes of them when one of them crashes.
//!
//! The test that holds the servers while one crashes fails with the end of its error log, whatever the test itself makes of
//! it. A server that crashes while no test holds it fails the next test that takes it. The tests behind that get new
//! servers. Not here: a server that runs and does not answer.

use std::fs;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Node, State};

use super::{Pair, Server};

/// How long to wait before the next look for servers that no test holds.
const PAUSE: Duration = Duration::from_millis(10);

/// What a server writes first to its error log when it crashes.
const CRASH: &str = " got signal ";
/// A server that crashes writes a stack trace before it ends, beside full load too.
const CRASH_LIMIT: Duration = Duration::from_secs(120);

/// Lines of an error log that a failed test shows, and those of them that are before the crash.
const SHOWN_LINES: usize = 80;
const SHOWN_BEFORE: usize = 20;

/// A place for a pair of servers, which the first test that takes it starts.
pub struct Shared {
    pair: Mutex<Option<Pair>>,
    start: fn() -> Pair,
}

/// The pair, for the one test that holds this.
pub struct Held {
    place: MutexGuard<'static, Option<Pair>>,
    /// How long the error logs of all its servers were when the test took it.
    log_bytes: Vec<usize>,
}

impl Shared {
    pub const fn new(start: fn() -> Pair) -> Shared {
        Shared { pair: Mutex::new(None), start }
    }

    /// The pair, once no other test holds it.
    pub fn take(&'static self) -> Held {
        // A test that failed leaves schemas behind, and every comparison begins with removing all.
        self.hold(self.pair.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The first of several pairs that no other test holds.
    pub fn take_any(places: &'static [Shared]) -> Held {
        loop {
            for shared in places {
                match shared.pair.try_lock() {
                    Ok(place) => return shared.hold(place),
                    Err(TryLockError::Poisoned(place)) => return shared.hold(place.into_inner()),
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            thread::sleep(PAUSE);
        }
    }

    fn hold(&self, mut place: MutexGuard<'static, Option<Pair>>) -> Held {
        // Nothing of its error logs is new to the test, but that a server has ended is.
        let ended = place.as_ref().map_or_else(Vec::new, |pair| ended(pair, &log_bytes(pair)));
        if !ended.is_empty() {
            *place = None;
            panic!("between two tests, {}", ended.join("\n"));
        }
        let pair = place.get_or_insert_with(self.start);
        let log_bytes = log_bytes(pair);
        Held { place, log_bytes }
    }
}

impl Deref for Held {
    type Target = Pair;

    fn deref(&self) -> &Pair {
        self.place.as_ref().expect("a held pair is there")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let ended = ended(self, &self.log_bytes);
        if ended.is_empty() {
            return;
        }
        *self.place = None;
        let ended = format!("in this test, {}", ended.join("\n"));
        if thread::panicking() { eprintln!("{ended}") } else { panic!("{ended}") }
    }
}

fn servers(pair: &Pair) -> [(&'static str, &Server); 2] {
    [("the client's server", &pair.client), ("Hortator's server", &pair.hortator)]
}

fn log_bytes(pair: &Pair) -> Vec<usize> {
    servers(pair).iter().flat_map(|(_, server)| server.sandbox().nodes()).map(|node| log(node).len()).collect()
}

/// The servers that do not run, or have crashed since their error logs were so long, each with the end of its error log.
fn ended(pair: &Pair, log_bytes: &[usize]) -> Vec<String> {
    let nodes =
        servers(pair).into_iter().flat_map(|(whose, server)| server.sandbox().nodes().map(move |node| (whose, node)));
    nodes.zip(log_bytes).filter_map(|((whose, node), since)| ended_node(whose, node, *since)).collect()
}

fn ended_node(whose: &str, node: Node<'_>, since: usize) -> Option<String> {
    let is_crash = log(node).get(since..).is_some_and(|new| new.contains(CRASH));
    if is_crash {
        let start = Instant::now();
        while node.state() == State::Running && start.elapsed() < CRASH_LIMIT {
            thread::sleep(PAUSE);
        }
    }
    let state = node.state();
    if state == State::Running && !is_crash {
        return None;
    }
    let log = log(node);
    Some(format!("{whose}, {}, has ended: it is {state}. The end of its error log:\n{}", node.name(), shown(&log)))
}

fn log(node: Node<'_>) -> String {
    fs::read(node.error_log()).map_or_else(|_| String::new(), |log| String::from_utf8_lossy(&log).into_owned())
}

/// The last crash with some lines before it, or the last lines where there is none.
fn shown(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let crash = lines.iter().rposition(|line| line.contains(CRASH)).map(|crash| crash.saturating_sub(SHOWN_BEFORE));
    let from = crash.unwrap_or_else(|| lines.len().saturating_sub(SHOWN_LINES));
    lines[from..].iter().take(SHOWN_LINES).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::Command;

    use super::*;
    use crate::servers::start_pair;

    fn message(panicked: impl FnOnce()) -> String {
        let payload = catch_unwind(AssertUnwindSafe(panicked)).expect_err("a crash fails the test");
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    fn signal(server: &Server, signal: &str) {
        let pid = server.sandbox().node(0).pid().expect("the server runs");
        assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
    }

    fn wait_for_end(server: &Server) {
        let start = Instant::now();
        while server.sandbox().node(0).state() == State::Running {
            assert!(start.elapsed() < CRASH_LIMIT, "a killed server does not end");
            thread::sleep(PAUSE);
        }
    }

    fn pids(pair: &Pair) -> [Option<u32>; 2] {
        [&pair.client, &pair.hortator].map(|server| server.sandbox().node(0).pid())
    }

    #[test]
    fn a_crash_fails_the_test_that_holds_the_server_and_the_next_gets_another() {
        static SHARED: Shared = Shared::new(start_pair);
        let first = {
            let pair = SHARED.take();
            pair.hortator.connect().execute(b"SELECT 1").unwrap();
            pids(&pair)
        };
        assert_eq!(pids(&SHARED.take()), first, "servers that run are kept");

        // It still runs when the test is over, and writes a stack trace.
        let told = message(|| {
            let pair = SHARED.take();
            signal(&pair.hortator, "-ABRT");
            let node = pair.hortator.sandbox().node(0);
            let start = Instant::now();
            while !log(node).contains(CRASH) {
                assert!(start.elapsed() < CRASH_LIMIT, "a server that crashes does not say so");
                thread::sleep(PAUSE);
            }
        });
        assert!(told.contains("in this test, Hortator's server, node1, has ended: it is crashed"), "{told}");
        assert!(told.contains(" got signal 6 "), "{told}");
        let told = message(|| {
            let pair = SHARED.take();
            assert_ne!(pids(&pair), first);
            signal(&pair.client, "-KILL");
            wait_for_end(&pair.client);
        });
        assert!(told.contains("in this test, the client's server, node1, has ended: it is crashed"), "{told}");
        assert!(told.contains("ready for connections"), "{told}");

        // A failure of the test itself is what is told first.
        let told = message(|| {
            let pair = SHARED.take();
            pair.hortator.sandbox().node(0).kill().unwrap();
            panic!("{}", "the test's own failure".to_owned());
        });
        assert_eq!(told, "the test's own failure");

        // One that a test has started again is as good as before.
        {
            let pair = SHARED.take();
            let node = pair.hortator.sandbox().node(0);
            node.kill().unwrap();
            node.start().unwrap();
        }
        let pair = SHARED.take();
        let pid = pair.client.sandbox().node(0).pid().unwrap();
        drop(pair);
        assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
        wait_for_end(&SHARED.pair.lock().unwrap_or_else(PoisonError::into_inner).as_ref().unwrap().client);
        let told = message(|| drop(SHARED.take()));
        assert!(told.contains("between two tests, the client's server, node1, has ended: it is crashed"), "{told}");
        SHARED.take().client.connect().execute(b"SELECT 1").unwrap();
        // What a static holds is never dropped.
        *SHARED.pair.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
