//! Loads that are killed and resumed: every statement that fails is in the file once.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{reject_file, rejected};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Outcome, Running, run};
use crate::random::Dice;
use crate::servers::pair;

const KILLS: u32 = 10;
const STATEMENTS: u64 = 3_000;

/// Rows of two tables, changes of the main session and definitions; gives the dump and the statements that fail.
fn dump(dice: &mut Dice) -> (String, Vec<String>) {
    let mut text =
        "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(50));\nCREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(50));\n\
                    INSERT INTO a VALUES (-1, ''); INSERT INTO b VALUES (-1, '');\n"
            .to_owned();
    let mut failing = Vec::new();
    for number in 0..STATEMENTS {
        let table = if dice.below(2) == 0 { "a" } else { "b" };
        let statement = match dice.below(40) {
            0..6 => {
                failing.push(format!("INSERT INTO {table} VALUES ({number}, 'lost'), (-1, 'statement {number}');"));
                failing[failing.len() - 1].clone()
            }
            6 => {
                failing.push(format!("UPDATE {table} SET missing = {number};"));
                failing[failing.len() - 1].clone()
            }
            7 => {
                failing.push(format!("ALTER TABLE {table} DROP COLUMN missing_{number};"));
                failing[failing.len() - 1].clone()
            }
            8 => format!("CREATE OR REPLACE VIEW seen AS SELECT {number} AS n;"),
            9 => {
                failing.push(format!("CREATE OR REPLACE VIEW a AS SELECT {number} AS n;"));
                failing[failing.len() - 1].clone()
            }
            _ => format!("INSERT INTO {table} VALUES ({number}, 'a row'), (-{}, 'another');", number + 10),
        };
        let _ = writeln!(text, "{statement}");
    }
    (text, failing)
}

/// The load was killed when all was done, and there is nothing to go on with.
fn is_over(resumed: &Outcome) -> bool {
    resumed.status == Some(1) && resumed.messages.contains("nothing to resume")
}

#[test]
fn killed_again_and_again() {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let (text, failing) = dump(&mut dice);
    let (_dump_folder, path) = dump_file("dump.sql", text.as_bytes());
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (_folder, reject) = reject_file();
    let arguments = ["--force", "--reject", &reject, "--chunk-bytes", "2048", path.to_str().unwrap()];
    let resumed = [&arguments[..], &["--resume"]].concat();
    let mut running = Running::start(load_into(server, &arguments));
    server.wait_until("SELECT COUNT(*) > 100 FROM hortator_case.a");
    let mut outcome = None;
    for kill in 0..KILLS {
        thread::sleep(Duration::from_millis(20 + dice.below(150)));
        let with = if dice.below(3) == 0 { Signal::TERM } else { Signal::KILL };
        if !running.has_ended() {
            signal(&running, with);
        }
        let ended = running.finish();
        eprintln!("kill {kill}: {:?}", ended.status);
        // One that is killed at its very end leaves nothing to resume.
        if ended.status == Some(3) || is_over(&ended) {
            outcome = Some(ended).filter(|ended| ended.status == Some(3));
            running = Running::start(load_into(server, &["--status"]));
            break;
        }
        assert!(ended.status.is_none() || ended.status == Some(130), "{}", ended.messages);
        // A crash in the middle of the file's last record.
        let length = fs::metadata(&reject).unwrap().len();
        if length > 0 && dice.below(2) == 0 {
            let mut content = fs::read(&reject).unwrap();
            content.extend_from_slice(b"-- Statement 5 (999 bytes below): line 1\nINSERT INTO");
            fs::write(&reject, content).unwrap();
        }
        running = Running::start(load_into(server, &resumed));
    }
    let last = running.finish();
    let last = Some(last).filter(|last| last.status != Some(0) && !is_over(last));
    if let Some(outcome) = outcome.or(last) {
        assert_tells(&outcome, 3, &[&reject]);
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    rejected(&reject).into_iter().for_each(|statement| *found.entry(statement).or_default() += 1);
    let expected: BTreeMap<String, usize> = failing.into_iter().map(|statement| (statement, 1)).collect();
    for (statement, times) in &found {
        assert_eq!(expected.get(statement), Some(times), "{statement}");
    }
    for statement in expected.keys() {
        assert!(found.contains_key(statement), "missing: {statement}");
    }
}

/// A statement is in the file, and the load is killed before it counts as done. When the load resumes, it does not fail.
#[test]
fn a_cause_that_was_mended_meanwhile() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let session = |statements: &[&str]| {
        let mut connection = server.connect();
        statements.iter().for_each(|statement| drop(connection.execute(statement.as_bytes()).unwrap()));
        connection
    };
    let row = session(&[
        "CREATE TABLE hortator_case.t (id INT PRIMARY KEY)",
        "INSERT INTO hortator_case.t VALUES (5)",
        "START TRANSACTION",
        "UPDATE hortator_case.t SET id = 7 WHERE id = 5",
    ]);
    let (_dump_folder, path) = dump_file("dump.sql", b"INSERT INTO t VALUES (6);\nINSERT INTO t VALUES (5);\n");
    let (_folder, reject) = reject_file();
    let arguments = ["--force", "--reject", &reject, "--chunk-bytes", "1", path.to_str().unwrap()];
    let running = Running::start(load_into(server, &arguments));
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    server.wait_until("SELECT COUNT(*) = 1 FROM hortator_case.t WHERE id = 6");
    let records = session(&["LOCK TABLES hortator.chunks READ"]);
    drop(row);
    // Now it fails, and its checkpoint cannot be written.
    let is_rejected = |_| {
        thread::sleep(Duration::from_millis(10));
        fs::metadata(&reject).unwrap().len() > 0
    };
    assert!((0..30_000).any(is_rejected), "nothing is rejected");
    signal(&running, Signal::KILL);
    assert_eq!(running.finish().status, None);
    assert_eq!(rejected(&reject), ["INSERT INTO t VALUES (5);"]);
    drop(records);
    server.connect().execute(b"DELETE FROM hortator_case.t WHERE id = 5").unwrap();
    let outcome = run(load_into(server, &[&arguments[..], &["--resume"]].concat()));
    assert_tells(&outcome, 0, &[]);
    assert!(rejected(&reject).is_empty(), "{}", fs::read_to_string(&reject).unwrap());
    assert_eq!(server.rows_of_case("SELECT id FROM t ORDER BY id"), [["5"], ["6"]]);
}
