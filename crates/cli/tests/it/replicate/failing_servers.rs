//! Servers that fail in the middle of it: what a source says then, what the target has, and that it goes on.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::rules::{says_ok, stops_with};

/// What an agent that is not root has at the target.
const RIGHTS: &str = "GRANT ALL ON *.* TO agent@localhost";
const NO_EXCEPTION: &str = "REVOKE READ_ONLY ADMIN, SUPER ON *.* FROM agent@localhost";

/// Two sources, whose agent has an account of its own at the target.
fn two_sources_by_an_account() -> FanIn {
    let mut fan_in = FanIn::new(2, &[]);
    run(&fan_in.target, &["CREATE USER agent@localhost", RIGHTS]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replacen("user = \"root\"", "user = \"agent\"", 1));
    fan_in
}

/// A table `t` of each source, in d1 and in d2, which the target has too.
fn make_tables(fan_in: &mut FanIn) {
    for (source, schema) in fan_in.sources.iter().zip(["d1", "d2"]) {
        run(source, &[&format!("CREATE DATABASE {schema}"), &format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY)")]);
    }
    fan_in.catch_up();
}

#[test]
fn a_target_that_becomes_read_only() {
    let mut fan_in = two_sources_by_an_account();
    let _agent = fan_in.start();
    make_tables(&mut fan_in);
    // BINLOG needs BINLOG REPLAY, which an account has without SUPER.
    run(&fan_in.target, &[NO_EXCEPTION, "SET GLOBAL read_only = 1"]);
    run(&fan_in.target, &["KILL USER agent@localhost"]);
    fan_in.wait_until("both to read", |shown| shown.matches(" running ").count() == 2 || shown.contains("stopped"));
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1)", "CREATE TABLE d1.u (id INT PRIMARY KEY)"]);
    stops_with(&fan_in, "s1", "--read-only option");
    run(&fan_in.target, &["SET GLOBAL read_only = 0"]);
    run(&fan_in.sources[1], &["INSERT INTO d2.t VALUES (2)"]);
    says_ok(&fan_in, "resume s1");
    let (shown, _) = fan_in.says("status");
    if line_of(&shown, "s2").contains("stopped") {
        says_ok(&fan_in, "resume s2");
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1", "d2"]);
}

/// As far as InnoDB can tell: its one tablespace may not grow any further.
#[test]
fn a_target_whose_disk_is_full() {
    let of_target = [("innodb_data_file_path", "ibdata1:12M:autoextend:max:32M"), ("innodb_file_per_table", "0")];
    let fan_in = FanIn::new(1, &of_target);
    let agent = fan_in.start();
    run(
        &fan_in.target,
        &[
            "CREATE DATABASE of_others",
            "CREATE TABLE of_others.filler (v VARCHAR(1000)) ENGINE=InnoDB",
            "INSERT INTO of_others.filler SELECT REPEAT('x', 1000) FROM of_others.seq_1_to_15000",
        ],
    );
    run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT) ENGINE=InnoDB"]);
    fan_in.catch_up();
    // A backlog of small transactions, and a large one.
    says_ok(&fan_in, "pause s1");
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    let mut source = fan_in.sources[0].node(0).connect().unwrap();
    for id in 0..1_500 {
        let insert =
            format!("INSERT INTO d.t VALUES ({}, REPEAT('a', 2000)), ({}, REPEAT('b', 2000))", id * 2, id * 2 + 1);
        source.execute(insert.as_bytes()).unwrap();
    }
    source.execute(b"INSERT INTO d.t SELECT seq + 10000, REPEAT('c', 2000) FROM d.seq_1_to_1000").unwrap();
    says_ok(&fan_in, "resume s1");
    stops_with(&fan_in, "s1", "The table 't' is full");
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("rows of d.t"), "{shown}");
    let rows = texts(&fan_in.target, "SELECT COUNT(*) MOD 2, MAX(id) + 1 = COUNT(*) FROM d.t");
    assert_eq!(rows, [["0", "1"]], "whole transactions, in their order");
    // Room again, as soon as InnoDB has purged it.
    run(&fan_in.target, &["DROP DATABASE of_others"]);
    says_ok(&fan_in, "resume s1");
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let (shown, code) = fan_in.says("wait --caught-up --timeout 120");
        if code == Some(0) {
            break;
        }
        assert!(shown.contains("is full") && Instant::now() < end, "{shown}");
        says_ok(&fan_in, "resume s1");
    }
    fan_in.assert_equal(&["d"]);
    says_ok(&fan_in, "stop");
    assert_eq!(agent.end().1, Some(0));
}

/// A server takes the older reader for one that is gone.
#[test]
fn two_readers_with_one_server_id() {
    let mut fan_in = FanIn::new(1, &[]);
    let mut other = FanIn::new(0, &[]);
    let socket = fan_in.socket(0);
    let source =
        |id: &str| format!("[[source]]\nname = \"s1\"\nsocket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n{id}");
    // Each has a number of its own without one in the configuration.
    fan_in.write(&(fan_in.target_table() + &source("")));
    other.write(&(other.target_table() + &source("")));
    let first = fan_in.start();
    let _second = other.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    for agent in [&fan_in, &other] {
        agent.catch_up();
        assert_eq!(texts(&agent.target, "SELECT id FROM d.t"), [["1"]]);
    }
    says_ok(&fan_in, "stop");
    assert_eq!(first.end().1, Some(0));
    says_ok(&other, "stop");
    for agent in [&mut fan_in, &mut other] {
        let text = agent.target_table() + &source("server_id = 4711\n");
        agent.write(&text);
    }
    let _first = fan_in.start();
    let _second = other.start();
    stops_with(&fan_in, "s1", "another reader has connected to the source with the same server id");
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (2)"]);
    other.catch_up();
    assert_eq!(texts(&other.target, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id"), [["1"]]);
    says_ok(&other, "stop");
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]]);
}

#[test]
fn a_source_whose_log_is_damaged() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)"]);
    fan_in.catch_up();
    says_ok(&fan_in, "pause s1");
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (1, 'whole')", "INSERT INTO d.t VALUES (2, 'broken')"]);
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (3, 'behind')"]);
    let path = fan_in.sources[0].node(0).data_dir().join("bin.000001");
    let mut log = Vec::new();
    let mut file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    file.read_to_end(&mut log).unwrap();
    // In the row event, behind the text of the statement.
    let at = log.windows(6).rposition(|bytes| bytes == b"broken").unwrap();
    let mut damage = |byte: &[u8]| {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(byte).unwrap();
    };
    damage(b"B");
    says_ok(&fan_in, "resume s1");
    stops_with(&fan_in, "s1", "checksum");
    let rows = || texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id");
    assert_eq!(rows(), [["1"]]);
    damage(b"b");
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
}

#[test]
fn a_source_whose_log_is_cut_off() {
    let fan_in = FanIn::new(2, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)"]);
    fan_in.catch_up();
    says_ok(&fan_in, "pause s1");
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (1, 'whole')", "INSERT INTO d.t VALUES (2, REPEAT('cut', 99))"]);
    run(&fan_in.sources[0], &["FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3, 'behind')"]);
    let path = fan_in.sources[0].node(0).data_dir().join("bin.000001");
    let whole = fs::read(&path).unwrap();
    // In the row event.
    let end = whole.windows(6).rposition(|bytes| bytes == b"cutcut").unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(end as u64).unwrap();
    says_ok(&fan_in, "resume s1");
    stops_with(&fan_in, "s1", "truncated in the middle of event");
    let rows = || texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").concat();
    assert_eq!(rows(), ["1"]);
    run(&fan_in.sources[1], &["CREATE DATABASE of_the_other"]);
    let query = "SHOW DATABASES LIKE 'of_the_other'";
    fan_in.wait_until("the other source", |_| texts(&fan_in.target, query).len() == 1);
    fs::write(&path, whole).unwrap();
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
}

/// The target's account loses a right that only one of the sources needs.
#[test]
fn a_right_that_is_lost() {
    let mut fan_in = two_sources_by_an_account();
    let _agent = fan_in.start();
    make_tables(&mut fan_in);
    run(&fan_in.target, &["REVOKE DROP ON *.* FROM agent@localhost", "KILL USER agent@localhost"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1)", "DROP TABLE d1.t", "CREATE TABLE d1.u (id INT)"]);
    run(&fan_in.sources[1], &["INSERT INTO d2.t VALUES (1)"]);
    stops_with(&fan_in, "s1", "DROP command denied to user");
    fan_in.wait_until("the other source", |shown| {
        assert!(!line_of(shown, "s2").contains("stopped"), "{shown}");
        texts(&fan_in.target, "SELECT id FROM d2.t").len() == 1
    });
    assert_eq!(texts(&fan_in.target, "SHOW TABLES FROM d1").concat(), ["t"]);
    run(&fan_in.target, &["GRANT DROP ON *.* TO agent@localhost", "KILL USER agent@localhost"]);
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    fan_in.assert_equal(&["d1", "d2"]);
}

/// All of its rows would be applied twice, and a table without a key takes them.
#[test]
fn one_server_under_two_names() {
    let mut fan_in = FanIn::new(1, &[]);
    let source = |name: &str, rules: &str| {
        let socket = fan_in.socket(0);
        format!("[[source]]\nname = \"{name}\"\nsocket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n{rules}")
    };
    let rule = |rest: &str| format!("[[source.rule]]\nmatch = \"d.*\"\n{rest}\n");
    let twice = [fan_in.target_table(), source("s1", ""), source("s2", "")].concat();
    let split = [fan_in.target_table(), source("s1", ""), source("s2", &rule("to = \"e.*\""))].concat();
    fan_in.write(&twice);
    let (shown, code) = fan_in.says("check");
    assert!(shown.contains("warning: s1, s2 are one server, it seems") && code == Some(0), "{shown}");
    let agent = fan_in.start();
    // Whichever comes later.
    let is = |shown: &str, name: &str, state: &str| line_of(shown, name).contains(state);
    let (mut one, mut other) = ("s1", "s2");
    fan_in.wait_until("one to stop", |shown| {
        (one, other) = if is(shown, "s1", "running") { ("s1", "s2") } else { ("s2", "s1") };
        is(shown, one, "running") && is(shown, other, "stopped")
    });
    assert!(fan_in.says("status").0.contains(&format!("{other}: the source {one} is the same server")));
    run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "INSERT INTO d.t VALUES (1)"]);
    let tables = |name: &str| {
        texts(&fan_in.target, &format!("SELECT 1 FROM information_schema.TABLES WHERE TABLE_NAME = '{name}'")).len()
    };
    let rows = |table: &str| texts(&fan_in.target, &format!("SELECT id FROM {table}"));
    fan_in.wait_until("the row", |_| tables("t") == 1 && !rows("d.t").is_empty());
    says_ok(&fan_in, &format!("resume {other}"));
    fan_in.wait_until("it to stop again", |shown| is(shown, other, "stopped"));
    // As soon as the first is gone, it goes on.
    says_ok(&fan_in, &format!("pause {one}"));
    fan_in.wait_until("it to wait", |shown| is(shown, one, "paused"));
    fan_in.wait_until("it to run", |shown| {
        fan_in.says(&format!("resume {other}"));
        is(shown, other, "running")
    });
    drop(agent);
    assert_eq!(rows("d.t"), [["1"]]);
    // Each with tables of its own.
    run(&fan_in.target, &["DELETE FROM hortator.replicate_positions", "CREATE DATABASE e"]);
    fs::write(fan_in.file(), split).unwrap();
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE TABLE d.u (id INT)", "INSERT INTO d.u VALUES (2)"]);
    fan_in.catch_up();
    assert_eq!([rows("d.u"), rows("e.u")], [[["2"]], [["2"]]]);
}
