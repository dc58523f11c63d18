//! Logs of sources in which neither the names of files nor the GTIDs tell what stands behind what.

use std::fs;

use super::fan_in::{FanIn, run, texts};
use super::line_of;

const TABLES: [&str; 3] =
    ["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT) ENGINE=InnoDB", "CREATE TABLE d1.u (id INT) ENGINE=InnoDB"];
const SAME_GTID: &str = "a transaction before has the same GTID";

fn write(fan_in: &FanIn, statements: &[&str]) {
    run(&fan_in.sources[0], statements);
}

/// Waits until the source is stopped and its reason has these words: it may be stopped for another one before.
pub(super) fn stops_with(fan_in: &FanIn, text: &str) {
    fan_in.wait_until(text, |shown| line_of(shown, "s1").contains("stopped") && shown.contains(text));
}

/// Restarts the source as one whose log had another base name until now: `log_bin` was changed, and `log_bin_index` was not.
fn rename_log(fan_in: &FanIn) {
    let node = fan_in.sources[0].node(0);
    let logs = texts(&fan_in.sources[0], "SHOW BINARY LOGS");
    node.stop().unwrap();
    let folder = node.data_dir();
    for log in &logs {
        fs::rename(folder.join(&log[0]), folder.join(format!("shop-{}", log[0]))).unwrap();
    }
    let index = fs::read_to_string(folder.join("bin.index")).unwrap();
    fs::write(folder.join("bin.index"), index.replace("bin.0", "shop-bin.0")).unwrap();
    node.start().unwrap();
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET file = CONCAT('shop-', file) WHERE source = 's1'"]);
}

#[test]
fn a_log_that_is_renamed() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    write(&fan_in, &TABLES);
    write(&fan_in, &["INSERT INTO d1.t VALUES (1)"]);
    fan_in.catch_up();
    drop(agent);
    rename_log(&fan_in);
    write(&fan_in, &["INSERT INTO d1.t VALUES (2)"]);
    let _agent = fan_in.start_only();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn tables_copied_again_from_a_log_that_is_renamed() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(&fan_in, &TABLES);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    write(&fan_in, &["INSERT INTO d1.t VALUES (1)", "INSERT INTO d1.u VALUES (1)"]);
    rename_log(&fan_in);
    write(&fan_in, &["INSERT INTO d1.t VALUES (2)", "INSERT INTO d1.u VALUES (2)"]);
    assert_eq!(fan_in.says("copy-again s1 --table d1.t"), (String::new(), Some(0)));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The last of these is before others that have come with a GTID behind its own.
const AGAIN: [&str; 6] = [
    "INSERT INTO d1.t VALUES (1)",
    "SET SESSION gtid_seq_no = 50",
    "INSERT INTO d1.t VALUES (50), (51)",
    "INSERT INTO d1.t VALUES (52)",
    "SET SESSION gtid_seq_no = 50",
    "INSERT INTO d1.t VALUES (100)",
];

/// By GTID, the source would send what stands before the start.
#[test]
fn a_first_start_behind_a_gtid_that_is_used_again() {
    for start in ["now", "file", "snapshot"] {
        let mut fan_in = FanIn::new(1, &[]);
        write(&fan_in, &TABLES);
        write(&fan_in, &AGAIN);
        let end = texts(&fan_in.sources[0], "SHOW MASTER STATUS").remove(0);
        let place = if start == "file" { format!("{}:{}", end[0], end[1]) } else { start.to_owned() };
        let text = fs::read_to_string(fan_in.file()).unwrap().replace("\"now\"", &format!("\"{place}\""));
        fan_in.write(&text);
        if start != "snapshot" {
            run(&fan_in.target, &TABLES);
            run(&fan_in.target, &["INSERT INTO d1.t VALUES (1), (50), (51), (52), (100)"]);
        }
        let _agent = fan_in.start_only();
        stops_with(&fan_in, SAME_GTID);
        fan_in.assert_equal(&["d1"]);
        run(&fan_in.target, &["UPDATE hortator.replicate_positions SET gtid = '' WHERE source = 's1'"]);
        assert_eq!(fan_in.says("resume s1").1, Some(0), "{start}");
        write(&fan_in, &["INSERT INTO d1.t VALUES (101)"]);
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
    }
}

#[test]
fn a_gtid_that_is_used_again_in_a_log_of_two_domains() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    write(&fan_in, &TABLES);
    write(&fan_in, &["SET SESSION gtid_domain_id = 7", "INSERT INTO d1.u VALUES (1)"]);
    write(&fan_in, &AGAIN);
    fan_in.catch_up();
    drop(agent);
    let _agent = fan_in.start_only();
    stops_with(&fan_in, SAME_GTID);
    fan_in.assert_equal(&["d1"]);
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET gtid = '' WHERE source = 's1'"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    write(&fan_in, &["SET SESSION gtid_domain_id = 7", "INSERT INTO d1.u VALUES (2)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The copy reads the log twice, and nothing arrives: each time it goes on by the place, as the row says.
#[test]
fn tables_copied_again_behind_a_gtid_that_is_used_again() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    write(&fan_in, &TABLES);
    write(&fan_in, &AGAIN);
    fan_in.catch_up();
    drop(agent);
    let _agent = fan_in.start_only();
    stops_with(&fan_in, SAME_GTID);
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET gtid = '' WHERE source = 's1'", "DELETE FROM d1.t"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("it to go on", |shown| !line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("copy-again s1 --table d1.t"), (String::new(), Some(0)));
    let copied = || {
        texts(
            &fan_in.target,
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd1' AND TABLE_NAME = 't'",
        )
    };
    fan_in.wait_until("the copy", |shown| {
        assert!(!line_of(shown, "s1").contains("stopped"), "{shown}");
        copied() == [["1"]] && texts(&fan_in.target, "SELECT COUNT(*) FROM d1.t") == [["5"]]
    });
    write(&fan_in, &["INSERT INTO d1.t VALUES (101)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}
