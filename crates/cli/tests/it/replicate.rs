//! `hortator replicate` on the command line: several servers into one, errors that stop one source, kills of everything.

mod chain;
mod cluster;
pub mod compared;
mod conflicts;
mod conflicts_overwritten;
mod conflicts_random;
mod copied_again;
mod copied_tables;
mod corners;
mod failing_servers;
pub mod fan_in;
mod files;
mod interrupted;
mod kills;
mod large_transactions;
mod lost_tables;
mod monitoring;
mod newer_versions;
mod other_engines;
mod other_sessions;
mod rule_corners;
mod rules;
mod side_by_side;
mod snapshot;
mod snapshot_changes;
mod snapshot_merged;
mod source_collations;
mod source_logs;
mod statement_settings;
mod stream_kinds;
mod streams;
mod target_defaults;
mod target_definitions;
mod unit;

use std::fs;
use std::process::Command;

use fan_in::{FanIn, run, texts};

#[test]
fn three_servers_into_one() {
    let fan_in = FanIn::new(3, &[]);
    for (number, source) in (1..).zip(&fan_in.sources) {
        let database = format!("d{number}");
        run(
            source,
            &[
                &format!("CREATE DATABASE {database}"),
                &format!("CREATE TABLE {database}.before_the_start (id INT PRIMARY KEY)"),
            ],
        );
        run(&fan_in.target, &[&format!("CREATE DATABASE {database}")]);
        run(&fan_in.target, &[&format!("CREATE TABLE {database}.before_the_start (id INT PRIMARY KEY)")]);
    }
    assert_eq!(fan_in.says("check"), ("the target and 3 sources can be used".to_owned(), Some(0)));
    let nothing_runs = "hortator: nothing runs this configuration: `hortator replicate run` starts it";
    for command in ["status", "stop", "pause s1", "wait --caught-up"] {
        assert_eq!(fan_in.says(command), (nothing_runs.to_owned(), Some(1)), "{command}");
    }

    let agent = fan_in.start();
    fan_in.wait_until("s1 s2 s3 run", |shown| shown.matches(" running ").count() == 3);
    let (shown, code) = fan_in.says("run");
    assert!(shown.contains("this configuration runs already") && code == Some(1), "{shown}");
    for (number, source) in (1..).zip(&fan_in.sources) {
        let table = format!("d{number}.t");
        run(
            source,
            &[
                &format!("CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB"),
                &format!("INSERT INTO {table} (v) VALUES ('one'), ('two'), ('three')"),
                &format!("UPDATE {table} SET v = 'zwei' WHERE id = 2"),
                &format!("DELETE FROM {table} WHERE id = 3"),
                &format!("INSERT INTO d{number}.before_the_start VALUES (1)"),
                &format!("CREATE VIEW d{number}.v AS SELECT v FROM {table}"),
                "FLUSH BINARY LOGS",
            ],
        );
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1", "d2", "d3"]);

    // A source that is paused waits, and the others go on.
    assert_eq!(fan_in.says("pause s2"), (String::new(), Some(0)));
    fan_in.wait_until("s2 to wait", |shown| line_of(shown, "s2").contains("paused"));
    for source in &fan_in.sources[..2] {
        run(source, &["CREATE DATABASE IF NOT EXISTS more", "CREATE DATABASE last"]);
        run(source, &["DROP DATABASE last"]);
    }
    run(&fan_in.sources[0], &["INSERT INTO d1.before_the_start VALUES (99)"]);
    fan_in.wait_until("s1", |_| {
        texts(&fan_in.target, "SELECT COUNT(*) FROM d1.before_the_start WHERE id = 99") == [["1"]]
    });
    let (shown, code) = fan_in.says("wait --caught-up --timeout 1");
    assert!(shown.contains("1 of 3 sources are not caught up, s2 among them") && code == Some(1), "{shown}");
    assert_eq!(fan_in.says("resume s2"), (String::new(), Some(0)));
    fan_in.catch_up();

    assert_eq!(fan_in.says("pause s4"), ("hortator: there is no source s4".to_owned(), Some(1)));
    let (shown, code) = fan_in.says("skip s1");
    assert_eq!((&*shown, code), ("hortator: the source s1 is not stopped by a transaction", Some(1)));
    let (json, _) = fan_in.says("status --json");
    assert!(json.starts_with("[{\"name\":\"s1\",\"state\":\"running\","), "{json}");

    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("stopped"), "{log}");
    assert_eq!(fan_in.says("status").1, Some(1));

    // The next agent goes on where this one ended.
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (10, 'ten')"]);
    let agent = fan_in.start();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1", "d2", "d3"]);
    agent.terminate();
    let (log, code) = agent.end();
    assert_eq!(code, Some(0), "{log}");
}

/// The line of a source in the status.
pub fn line_of<'s>(shown: &'s str, name: &str) -> &'s str {
    let is_its = |line: &&str| line.split_whitespace().next() == Some(name);
    shown.lines().find(is_its).unwrap_or_else(|| panic!("no {name} in {shown}"))
}

#[test]
fn an_error_stops_one_source() {
    let fan_in = FanIn::new(2, &[]);
    let agent = fan_in.start();
    for (number, source) in (1..).zip(&fan_in.sources) {
        let create = format!("CREATE TABLE d{number}.t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB");
        run(source, &[&format!("CREATE DATABASE d{number}"), &create]);
    }
    fan_in.catch_up();
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (2, 'of another')"]);
    run(
        &fan_in.sources[0],
        &[
            "INSERT INTO d1.t VALUES (1, 'before')",
            "INSERT INTO d1.t VALUES (2, 'twice'), (3, 'goes with it')",
            "INSERT INTO d1.t VALUES (4, 'behind')",
        ],
    );
    fan_in.wait_until("s1 to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, code) = fan_in.says("status");
    assert_eq!(code, Some(1));
    assert!(shown.contains("rows of d1.t") && shown.contains("Duplicate entry '2'"), "{shown}");
    let rows = || texts(&fan_in.target, "SELECT id, v FROM d1.t ORDER BY id");
    assert_eq!(rows(), [["1", "before"], ["2", "of another"]]);
    run(&fan_in.sources[1], &["INSERT INTO d2.t VALUES (1, 'the other goes on')"]);
    fan_in.wait_until("s2's row", |_| texts(&fan_in.target, "SELECT id FROM d2.t").len() == 1);
    let (shown, code) = fan_in.says("wait --caught-up");
    assert!(shown.contains("s1 is stopped: ") && code == Some(1), "{shown}");

    // It tries again, and stops again; then the row is put right.
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("s1 to stop again", |shown| line_of(shown, "s1").contains("stopped"));
    run(&fan_in.target, &["DELETE FROM d1.t WHERE id = 2"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(rows(), [["1", "before"], ["2", "twice"], ["3", "goes with it"], ["4", "behind"]]);

    // Another one is passed over, whole.
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (5, 'of another')"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (6, 'x'), (5, 'twice')", "INSERT INTO d1.t VALUES (7, 'y')"]);
    fan_in.wait_until("s1 to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(rows()[4..], [["5", "of another"], ["7", "y"]]);

    // A definition that the target refuses is not in doubt.
    run(&fan_in.target, &["CREATE TABLE d1.there (id INT)"]);
    run(&fan_in.sources[0], &["CREATE TABLE d1.there (id INT PRIMARY KEY)"]);
    fan_in.wait_until("s1 to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("CREATE TABLE d1.there") && shown.contains("already exists"), "{shown}");
    run(&fan_in.target, &["DROP TABLE d1.there"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();

    // A source that ends while it is stopped is a failure of the whole.
    run(&fan_in.target, &["DROP TABLE d1.t"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (8, 'no table')"]);
    fan_in.wait_until("s1 to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(code == Some(1) && log.contains("s1 was stopped by an error") && log.contains("d1.t"), "{log}");
    assert!(log.contains("hortator replicate resume FILE s1"), "{log}");
}

#[test]
fn a_transaction_that_is_larger_than_what_is_kept() {
    let fan_in = FanIn::new(1, &[("max_allowed_packet", "8M")]);
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT) ENGINE=InnoDB",
            "BEGIN",
            "INSERT INTO d.t SELECT seq, REPEAT(seq, 40000) FROM d.seq_1_to_500",
            "UPDATE d.t SET v = CONCAT(v, '!') WHERE id % 7 = 0",
            "DELETE FROM d.t WHERE id % 5 = 0",
            "COMMIT",
            "BEGIN",
            "INSERT INTO d.t SELECT seq, REPEAT(seq, 40000) FROM d.seq_1001_to_1200",
            "ROLLBACK",
            "INSERT INTO d.t VALUES (2000, 'behind')",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
    drop(agent);
}

#[test]
fn rows_that_cannot_roll_back_are_in_doubt_after_a_crash() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.m (id INT) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1)"],
    );
    fan_in.catch_up();
    drop(agent);
    // As the record stands between the beginning and the end of such a transaction.
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET begun = 'rows of d.m'"]);
    run(&fan_in.target, &["INSERT INTO d.m VALUES (2)"]);
    run(&fan_in.sources[0], &["INSERT INTO d.m VALUES (2)", "INSERT INTO d.m VALUES (3)"]);
    let _agent = fan_in.start();
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("had begun when an earlier run ended") && shown.contains("rows of d.m"), "{shown}");
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.m ORDER BY id"), [["1"], ["2"], ["3"]]);

    // A part of such a transaction is applied when the target refuses the rest: that is in doubt, too.
    run(&fan_in.target, &["ALTER TABLE d.m ADD UNIQUE KEY (id)"]);
    run(&fan_in.sources[0], &["INSERT INTO d.m VALUES (4), (3), (5)"]);
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert!(fan_in.says("status").0.contains("Duplicate entry '3'"));
    run(&fan_in.target, &["ALTER TABLE d.m DROP KEY id"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("it to ask", |shown| shown.contains("had begun when an earlier run ended"));
    run(&fan_in.target, &["DELETE FROM d.m WHERE id = 4"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    let rows = texts(&fan_in.target, "SELECT id FROM d.m ORDER BY id");
    assert_eq!(rows, [["1"], ["2"], ["3"], ["3"], ["4"], ["5"]]);
}

/// A locked target does not keep the agent from ending, and loses nothing by it.
#[test]
fn an_agent_ends_while_the_target_is_locked() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    fan_in.catch_up();
    let mut locks = fan_in.target.node(0).connect().unwrap();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1)", "INSERT INTO d1.t VALUES (2)"]);
    fan_in.wait_until("the target to wait", |_| {
        texts(&fan_in.target, "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for %lock%'")
            .len()
            == 1
    });
    // The status does not say that all is well.
    fan_in.wait_until("the lag", |shown| !line_of(shown, "s1").contains(" 0 s "));
    agent.terminate();
    let (log, code) = agent.end();
    assert!(code == Some(1) && log.contains("s1 has waited for a server for 20 s"), "{log}");
    drop(locks);
    let _agent = fan_in.start();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn sources_that_cannot_be_read() {
    let mut fan_in = FanIn::new(2, &[]);
    // One has an account without the right, the other a log that is purged.
    run(&fan_in.sources[0], &["CREATE USER poor@localhost IDENTIFIED BY 'secret'"]);
    let (one, two) = (&fan_in.sources[1], fan_in.socket(1));
    run(one, &["CREATE DATABASE d", "FLUSH BINARY LOGS"]);
    // A server keeps a file for as long as its engines may need it.
    while texts(one, "SHOW BINARY LOGS")[0][0] == "bin.000001" {
        run(one, &["PURGE BINARY LOGS TO 'bin.000002'"]);
    }
    let text = format!(
        "{}[[source]]\nname = \"poor\"\nsocket = \"{}\"\nuser = \"poor\"\npassword = \"secret\"\nstart = \"now\"\n\
         [[source]]\nname = \"purged\"\nsocket = \"{two}\"\nuser = \"root\"\nstart = \"bin.000001:4\"\n\
         [[source]]\nname = \"gone\"\nhost = [\"127.0.0.1\"]\nport = 1\nuser = \"root\"\nstart = \"now\"\n",
        fan_in.target_table(),
        fan_in.socket(0),
    );
    fan_in.write(&text);
    let (shown, code) = fan_in.says("check");
    assert_eq!(code, Some(1), "{shown}");
    for said in [
        "problem: poor: the account may not read the binary log: GRANT REPLICATION SLAVE ON *.* TO it",
        "problem: gone: cannot connect to the server at 127.0.0.1:1",
        "2 of these must be mended before `run`",
    ] {
        assert!(shown.contains(said), "{said} in {shown}");
    }
    let agent = fan_in.start_only();
    fan_in.wait_until("two to stop", |shown| shown.matches(" stopped ").count() == 2 && shown.contains("gone: conn"));
    let (shown, _) = fan_in.says("status");
    for said in [
        "poor: ",
        "Access denied; you need",
        "purged: ",
        "Could not find first log file",
        "gone: connecting to the source",
    ] {
        assert!(shown.contains(said), "{said} in {shown}");
    }
    assert!(line_of(&shown, "gone").contains("connecting"), "{shown}");
    run(&fan_in.sources[0], &["GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO poor@localhost"]);
    assert_eq!(fan_in.says("resume poor").1, Some(0));
    fan_in.wait_until("poor to run", |shown| line_of(shown, "poor").contains("running"));
    fan_in.says("stop");
    assert_eq!(agent.end().1, Some(1));
}

#[test]
fn configurations_that_are_wrong() {
    let mut fan_in = FanIn::new(0, &[]);
    for (text, said) in [
        ("[target", "line 1"),
        ("[target]\n", "there is no source"),
        ("[target]\nhots = \"x\"\n[[source]]\nname = \"a\"\nstart = \"now\"\n", "[target] has the unknown key `hots`"),
        ("[target]\nport = \"x\"\n[[source]]\nname = \"a\"\nstart = \"now\"\n", "port"),
    ] {
        fan_in.write(text);
        for command in ["check", "run", "status"] {
            let (shown, code) = fan_in.says(command);
            assert!(code == Some(1) && shown.contains(said), "{command} of {text}: {shown}");
        }
    }
    let deep = fan_in.file().parent().unwrap().join("x".repeat(100));
    fs::create_dir(&deep).unwrap();
    let file = deep.join("replicate.toml");
    fs::write(&file, "[target]\n[[source]]\nname = \"a\"\nstart = \"now\"\n").unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_hortator")).args(["replicate", "run"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("give the configuration a shorter path") && ran.status.code() == Some(1), "{said}");
    fs::remove_file(fan_in.file()).unwrap();
    let (shown, code) = fan_in.says("run");
    assert!(code == Some(1) && shown.contains("cannot read"), "{shown}");
}

/// A source that has a second host: a replica of the first, with the same GTIDs.
#[test]
fn the_next_host_of_a_source_goes_on() {
    let mut fan_in = FanIn::new(2, &[]);
    let [first, second] = &fan_in.sources[..] else { unreachable!("two were asked for") };
    run(first, &["CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO repl@'127.0.0.1'"]);
    let change = format!(
        "CHANGE MASTER TO master_host = '127.0.0.1', master_port = {}, master_user = 'repl', master_password = 'secret', \
         master_use_gtid = slave_pos",
        first.node(0).port()
    );
    run(second, &["SET GLOBAL server_id = 7", "SET GLOBAL gtid_slave_pos = ''", &change, "START SLAVE"]);
    run(first, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    let address = |port: u16| format!("127.0.0.1:{port}");
    let hosts = [first, second].map(|server| address(server.node(0).port()));
    fan_in.write(&format!(
        "{}[[source]]\nname = \"s1\"\nhost = [\"{}\", \"{}\"]\nuser = \"repl\"\npassword = \"secret\"\nstart = \
         \"bin.000001:4\"\n",
        fan_in.target_table(),
        hosts[0],
        hosts[1],
    ));
    let agent = fan_in.start();
    let table = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd1'";
    for server in [&fan_in.target, &fan_in.sources[1]] {
        fan_in.wait_until("the table", |_| texts(server, table).len() == 1);
    }
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1)"]);
    fan_in.wait_until("the first row", |_| texts(&fan_in.target, "SELECT id FROM d1.t").len() == 1);
    fan_in.wait_until("the replica", |_| texts(&fan_in.sources[1], "SELECT id FROM d1.t").len() == 1);
    fan_in.sources[0].node(0).kill().unwrap();
    run(&fan_in.sources[1], &["STOP SLAVE", "INSERT INTO d1.t VALUES (2)"]);
    fan_in.wait_until("the second row", |_| texts(&fan_in.target, "SELECT id FROM d1.t").len() == 2);
    let of_second = |_: &str| fan_in.says("status --json").0.contains("\"applied_gtid\":\"0-7-");
    fan_in.wait_until("the second server's own GTID", of_second);
    drop(agent);
}
