//! Loads that are ended early and gone on with: exactly once for every row, whatever was killed.

mod dump;

use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::compare::assert_same;
use crate::errors::{dump_file, load_into};
use crate::programs::{Dump, Outcome, Running, Way, load};
use crate::random::Dice;
use crate::servers::{Server, pair};
use dump::Size;

/// Chunks small enough that there are many of them.
const CHUNK: [&str; 2] = ["--chunk-bytes", "4096"];

/// An ended load and a server's restart, on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

fn size_of_many_kills() -> (u64, Size) {
    let kills = std::env::var("HORTATOR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(12);
    (kills, Size { statements: 60 + 12 * kills, rows: 60, with_aria: false })
}

fn seed() -> u64 {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.unwrap_or_else(|| u64::from(std::process::id()))
}

fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, signal).expect("the process is ours");
}

fn resume(server: &Server, file: &str) -> Command {
    load_into(server, &[&CHUNK[..], &["--resume", file]].concat())
}

/// What the client makes of the dump is what is there; and nothing else.
fn assert_like_client(server: &Server, text: &[u8]) {
    let pair = pair();
    pair.client.reset();
    let client = load(Way::Client, &pair.client, Dump::Bytes(text), false);
    assert_eq!(client.status, Some(0), "{}", client.messages);
    let (theirs, ours) = (pair.client.state(false), server.state(false));
    let mut differences = Vec::new();
    for (name, state) in &theirs {
        differences.extend(ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found)));
    }
    assert_same(&differences);
    assert_no_records(server);
}

fn assert_no_records(server: &Server) {
    let left = server.rows_of_case("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hortator'");
    assert_eq!(left[0][0], "0", "records are left behind");
}

#[test]
fn killed_again_and_again() {
    let (kills, size) = size_of_many_kills();
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let text = dump::dump(seed, size);
    let (_folder, path) = dump_file("dump.sql", &text);
    let file = path.to_str().unwrap();
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1"), ("innodb_buffer_pool_size", "64M")]);
    server.reset();
    let node = server.sandbox().node(0);
    let mut running = Running::start(load_into(&server, &[&CHUNK[..], &[file]].concat()));
    let mut told = Vec::new();
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(30 + dice.below(250)));
        let what = dice.below(4);
        told.push(what);
        if what == 0 || what == 3 {
            node.kill().unwrap();
        }
        let ends = match what {
            0 => None,
            1 => Some(Signal::INT),
            _ => Some(Signal::KILL),
        };
        if let Some(end) = ends
            && !running.has_ended()
        {
            signal(&running, end);
        }
        if what == 0 || what == 3 {
            node.start().unwrap();
        }
        if ends.is_some() || running.has_ended() {
            let outcome = running.finish_within(LIMIT);
            eprintln!("kill {kill} ({what}): {:?} {}", outcome.status, outcome.messages);
            assert_ne!(outcome.status, Some(0), "over after {kill} kills of {kills}: {}", outcome.messages);
            running = go_on(&server, file, &outcome);
        }
    }
    let mut outcome = running.finish_within(LIMIT);
    while outcome.status != Some(0) {
        outcome = go_on(&server, file, &outcome).finish_within(LIMIT);
    }
    assert_like_client(&server, &text);
}

/// Goes on; from the beginning where the load was ended before anything was recorded.
fn go_on(server: &Server, file: &str, ended: &Outcome) -> Running {
    if ended.status == Some(1) && ended.messages.contains("nothing to resume") {
        let tables = server.rows_of_case("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()");
        assert_eq!(tables[0][0], "0", "something is loaded, and no record of it: {}", ended.messages);
        return Running::start(load_into(server, &[&CHUNK[..], &[file]].concat()));
    }
    let first = ended.messages.lines().next().unwrap_or_default();
    let is_lost = ["cannot connect", "lost the connection", "interrupted"].iter().any(|words| first.contains(words));
    assert!(is_lost || (ended.status.is_none() && first.is_empty()), "{}", ended.messages);
    Running::start(resume(server, file))
}
