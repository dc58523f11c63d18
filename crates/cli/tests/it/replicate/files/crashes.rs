//! The process is killed again and again, and servers crash in the middle of a transaction.

use std::fs::OpenOptions;
use std::thread;
use std::time::Duration;
use std::{env, process};

use super::Recovery;
use crate::random::Dice;
use crate::replicate::fan_in::{run, texts};

/// The longest life of a process behind its first commit, in milliseconds.
const LONGEST_LIFE_MS: u64 = 100;
/// Processes that are killed before one may end by itself.
const KILLS: u32 = 12;

#[test]
fn the_process_is_killed_again_and_again() {
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let recovery = Recovery::new("bin.000001:4");
    let mut statements = vec![
        "CREATE TABLE d.c (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT) ENGINE=InnoDB".to_owned(),
        "CREATE TABLE d.no_key (v INT) ENGINE=InnoDB".to_owned(),
    ];
    for number in 0..4_000 {
        statements.push(match dice.below(200) {
            0 => "FLUSH BINARY LOGS".to_owned(),
            1 => format!("ALTER TABLE d.no_key ADD COLUMN IF NOT EXISTS c{} INT DEFAULT {number}", dice.below(9)),
            2 => format!("CREATE OR REPLACE TABLE d.x{} (id INT DEFAULT {number})", dice.below(3)),
            3 => format!("INSERT INTO d.t SELECT seq, REPEAT('large', 3000) FROM d.seq_{number}000_to_{number}400"),
            4..50 => format!("INSERT INTO d.no_key (v) VALUES ({number}), ({number})"),
            50..80 => format!("DELETE FROM d.c WHERE id = {}", dice.below(500)),
            80..110 => format!("UPDATE d.c SET v = CONCAT(v, {number}) WHERE id < {} AND id > 30", dice.below(60)),
            _ => format!("INSERT INTO d.c (v) VALUES ('{number}'), ('second')"),
        });
    }
    // The log does not say how far a counter is ahead of the last row.
    statements.push("INSERT INTO d.c VALUES ()".to_owned());
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    run(&recovery.fan_in.sources[0], &statements);
    recovery.copy();
    let position = || {
        let mut connection = recovery.fan_in.target.node(0).connect().unwrap();
        // The table is not there at first.
        connection.fetch(b"SELECT file, position FROM hortator.replicate_positions").unwrap_or_default()
    };
    for _ in 0..KILLS {
        let before = position();
        // It is killed with the value.
        let mut agent = recovery.spawn("");
        while position() == before && agent.0.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(dice.below(LONGEST_LIFE_MS)));
    }
    recovery.check("", 0, "all files are applied");
    recovery.fan_in.assert_equal(&["d"]);
    recovery.check("", 0, "all files are applied");
    recovery.fan_in.assert_equal(&["d"]);
}

/// A server crashes while it writes a transaction, whose last `bytes` are not in the file, and starts again.
fn check_crash(last: &str, bytes: u64, what: &str) {
    let recovery = Recovery::new("bin.000001:4");
    recovery.write(&["INSERT INTO d.t VALUES (1, 'x')", last]);
    let node = recovery.fan_in.sources[0].node(0);
    node.kill().unwrap();
    let first = node.data_dir().join("bin.000001");
    let length = first.metadata().unwrap().len() - bytes;
    OpenOptions::new().write(true).open(&first).unwrap().set_len(length).unwrap();
    recovery.copy();
    let said = format!("in the middle of {what}");
    // While it is the last one.
    let (shown, code) = recovery.run("");
    assert!(shown.contains(&said) && shown.contains("all files are applied") && code == Some(0), "{shown}");
    assert_eq!(recovery.ids(), "1");
    node.start().unwrap();
    // The server has not committed it either, unless InnoDB, which writes its log at least each second, has been faster
    // than the kill.
    run(&recovery.fan_in.sources[0], &["SET sql_log_bin = 0", "DELETE FROM d.t WHERE id > 1", "SET sql_log_bin = 1"]);
    recovery.write(&["INSERT INTO d.t VALUES (7, 'after the crash')"]);
    recovery.copy();
    let (shown, code) = recovery.run("");
    assert!(shown.contains(&said) && code == Some(0), "{shown}");
    assert!(shown.contains("all files are applied; bin.000002 was being written"), "{shown}");
    assert_eq!(recovery.ids(), "1 7");
    recovery.fan_in.assert_equal(&["d"]);

    // The same end of a file that lacks more is no crash's.
    run(&recovery.fan_in.target, &["DROP DATABASE d", "DROP DATABASE hortator"]);
    let first = recovery.path("bin.000001");
    let rows = super::bad::begin_of_last(&first, "Gtid") - 31;
    OpenOptions::new().write(true).open(&first).unwrap().set_len(rows).unwrap();
    recovery.check("", 1, "bin.000002 begins behind GTID 0-");
    assert_eq!(recovery.ids(), "");
}

#[test]
fn a_crash_in_a_transaction() {
    // An XID event has 31 bytes.
    check_crash("INSERT INTO d.t VALUES (2, 'small')", 31, "a transaction");
    check_crash("INSERT INTO d.t VALUES (2, 'small')", 40, "an event");
}

#[test]
fn a_crash_in_a_large_transaction() {
    check_crash("INSERT INTO d.t SELECT seq, REPEAT('large', 2000) FROM d.seq_2_to_2000", 31, "a transaction");
}

#[test]
fn a_crash_in_a_large_transaction_of_tables_that_cannot_roll_back() {
    let recovery = Recovery::new("bin.000001:4");
    recovery.write(&[
        "CREATE TABLE d.m (id INT PRIMARY KEY, v TEXT) ENGINE=MyISAM",
        "INSERT INTO d.m SELECT seq, REPEAT('large', 2000) FROM d.seq_1_to_2000",
    ]);
    recovery.copy();
    let first = recovery.path("bin.000001");
    let length = first.metadata().unwrap().len();
    OpenOptions::new().write(true).open(&first).unwrap().set_len(length - 200).unwrap();
    let agent = recovery.spawn("");
    recovery.fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    assert!(recovery.fan_in.says("status").0.contains("had begun when"), "{}", recovery.fan_in.says("status").0);
    // The person has looked, and lets the rows stay.
    assert_eq!(recovery.fan_in.says("skip s1"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(log.contains("all files are applied") && code == Some(0), "{log}");
    assert_ne!(texts(&recovery.fan_in.target, "SELECT COUNT(*) FROM d.m")[0][0], "0");
}
