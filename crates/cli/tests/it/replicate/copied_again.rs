//! `copy-again`: what the target has of a source is replaced by what the source has now, while the others go on.

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs, process, thread};

use super::fan_in::{Ends, FanIn, Victim, run, texts};
use super::line_of;
use super::rules::{MERGE, says_ok, stops_with};
use super::snapshot::{assert_copied, copied};
use super::snapshot_merged::copied_under;
use crate::random::Dice;

/// A schema of its own for each source, with all kinds of things.
fn create(fan_in: &FanIn, source: usize, rows: u32) {
    let d = format!("d{}", source + 1);
    let statements = [
        format!("CREATE DATABASE {d} CHARACTER SET utf8mb4"),
        format!("CREATE TABLE {d}.parent (id INT PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB"),
        format!(
            "CREATE TABLE {d}.child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES {d}.parent (id)) \
             ENGINE=InnoDB"
        ),
        format!("CREATE TABLE {d}.no_key (v INT) ENGINE=MyISAM"),
        format!("CREATE SEQUENCE {d}.numbers"),
        format!("CREATE VIEW {d}.shown AS SELECT v FROM {d}.parent"),
        format!("CREATE PROCEDURE {d}.nothing() SELECT 1"),
        format!("CREATE TRIGGER {d}.counts BEFORE INSERT ON {d}.child FOR EACH ROW SET NEW.parent = NEW.parent"),
        format!("INSERT INTO {d}.parent SELECT seq, REPEAT('x', 50) FROM {d}.seq_1_to_{rows}"),
        format!("INSERT INTO {d}.child (parent) SELECT seq FROM {d}.seq_1_to_{rows}"),
        format!("INSERT INTO {d}.no_key VALUES (1), (1), (2)"),
    ];
    run(&fan_in.sources[source], &statements.each_ref().map(String::as_str));
}

fn started(fan_in: &FanIn) -> super::fan_in::Agent {
    let agent = fan_in.start_only();
    wait_for_copies(fan_in);
    agent
}

fn wait_for_copies(fan_in: &FanIn) {
    fan_in.wait_until("the copies", |shown| {
        assert!(!shown.contains(" stopped "), "{shown}");
        shown.matches(" running ").count() == fan_in.sources.len()
    });
    fan_in.catch_up();
}

fn assert_equal(fan_in: &FanIn) {
    for (index, source) in fan_in.sources.iter().enumerate() {
        assert_copied(source, &fan_in.target, &[format!("d{}", index + 1)]);
    }
}

/// The usual reason: somebody has written to the target, and the source has stopped.
#[test]
fn a_source_that_an_error_has_stopped_is_copied_again_while_the_others_go_on() {
    let fan_in = copied(2);
    (0..2).for_each(|source| create(&fan_in, source, 300));
    let agent = started(&fan_in);
    assert_equal(&fan_in);
    run(
        &fan_in.target,
        &[
            "DELETE FROM d1.child WHERE id > 10",
            "DELETE FROM d1.parent WHERE id > 10",
            "INSERT INTO d1.no_key VALUES (9)",
            "DROP VIEW d1.shown",
            "CREATE TABLE d1.shown (id INT)",
            "ALTER TABLE d1.parent ADD COLUMN mine INT",
            "CREATE TABLE d1.of_the_target (id INT)",
            "INSERT INTO d1.of_the_target VALUES (1)",
        ],
    );
    run(&fan_in.sources[0], &["UPDATE d1.parent SET v = 'y' WHERE id = 100"]);
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    // The log up to here is of no use any more.
    run(&fan_in.sources[0], &["FLUSH BINARY LOGS", "PURGE BINARY LOGS TO 'bin.000002'"]);
    run(&fan_in.sources[1], &["DELETE FROM d2.child WHERE id < 5"]);
    says_ok(&fan_in, "copy-again s1");
    run(&fan_in.sources[1], &["DELETE FROM d2.child WHERE id > 290"]);
    wait_for_copies(&fan_in);
    // What the source does not have stays, and is told.
    assert_eq!(texts(&fan_in.target, "SELECT * FROM d1.of_the_target"), [["1"]]);
    run(&fan_in.target, &["DROP TABLE d1.of_the_target"]);
    assert_equal(&fan_in);
    run(&fan_in.sources[0], &["UPDATE d1.parent SET v = 'z' WHERE id = 100", "INSERT INTO d1.no_key VALUES (3)"]);
    fan_in.catch_up();
    assert_equal(&fan_in);
    says_ok(&fan_in, "stop");
    let (log, _) = agent.end();
    assert!(log.contains("s1: copies again: takes away "), "{log}");
    assert!(log.contains("s1: leaves on the target what the source does not have: d1.of_the_target\n"), "{log}");
    assert!(!log.contains("s2: copies again") && !log.contains("s2: stopped"), "{log}");
}

/// Rows of others stay where a source column tells them apart, also while these write.
#[test]
fn rows_of_one_source_among_those_of_others() {
    let fan_in = copied_under(2, MERGE);
    for (source, rows) in fan_in.sources.iter().zip(["(1, 'a'), (2, 'b'), (3, 'c')", "(1, 'x'), (4, 'y')"]) {
        let rows = format!("INSERT INTO shop.t VALUES {rows}");
        run(
            source,
            &["CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, v CHAR(9)) ENGINE=InnoDB", &rows],
        );
    }
    let _agent = started(&fan_in);
    run(
        &fan_in.target,
        &["DELETE FROM everything.t WHERE shard = 's1' AND id < 3", "UPDATE everything.t SET v = 'kept'"],
    );
    says_ok(&fan_in, "copy-again s1");
    run(&fan_in.sources[1], &["INSERT INTO shop.t VALUES (5, 'z')"]);
    wait_for_copies(&fan_in);
    let rows = texts(&fan_in.target, "SELECT shard, GROUP_CONCAT(id, v ORDER BY id) FROM everything.t GROUP BY shard");
    assert_eq!(rows, [["s1", "1a,2b,3c"], ["s2", "1kept,4kept,5z"]]);
}

#[test]
fn what_cannot_be_copied_again_goes_on_as_before() {
    let mut fan_in = copied_under(2, "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\n");
    for (index, source) in fan_in.sources.iter().enumerate() {
        let row = format!("INSERT INTO shop.t VALUES ({index})");
        run(source, &["CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE=InnoDB", &row]);
    }
    let agent = started(&fan_in);
    let (said, code) = fan_in.says("copy-again nobody");
    assert!(said.contains("there is no source nobody") && code == Some(1), "{said}");
    says_ok(&fan_in, "copy-again s1");
    stops_with(&fan_in, "s1", "the rows of this source in everything.t cannot be told from those of other sources");
    run(&fan_in.sources[0], &["INSERT INTO shop.t VALUES (7)"]);
    says_ok(&fan_in, "resume s1");
    wait_for_copies(&fan_in);
    assert_eq!(texts(&fan_in.target, "SELECT GROUP_CONCAT(id ORDER BY id) FROM everything.t"), [["0,1,7"]]);
    // An account that may not read all any more.
    says_ok(&fan_in, "stop");
    agent.end();
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("start = \"snapshot\"", "start = \"now\""));
    let _agent = fan_in.start();
    let (said, code) = fan_in.says("copy-again s1");
    assert!(said.contains("the source s1 has another start than \"snapshot\"") && code == Some(1), "{said}");
}

/// The target has no such account.
const NOT_LOGGED: &str = "SET SESSION sql_log_bin = 0";

/// The rows are taken away, the copy has stopped, and it goes on: the target does not have what it had before.
#[test]
fn a_copy_that_has_stopped_and_goes_on_is_waited_for() {
    let fan_in = copied_under(2, MERGE);
    for source in &fan_in.sources {
        run(
            source,
            &[
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v CHAR(9)) ENGINE=InnoDB",
                "INSERT INTO shop.t VALUES (1, 'a'), (2, 'b')",
            ],
        );
    }
    let _agent = started(&fan_in);
    let rows = || texts(&fan_in.target, "SELECT COUNT(*) FROM everything.t WHERE shard = 's1'").concat();
    assert_eq!(rows(), ["2"]);
    run(&fan_in.target, &["ALTER TABLE everything.t ADD COLUMN mine INT"]);
    says_ok(&fan_in, "copy-again s1");
    stops_with(&fan_in, "s1", "mine");
    assert_eq!(rows(), ["0"]);
    run(&fan_in.target, &["ALTER TABLE everything.t DROP COLUMN mine"]);
    let mut lock = fan_in.target.node(0).connect().unwrap();
    lock.execute(b"LOCK TABLES everything.t WRITE").unwrap();
    says_ok(&fan_in, "resume s1");
    let (shown, code) = fan_in.says("wait --caught-up --timeout 1");
    assert!(shown.contains("1 of 2 sources are not caught up, s1 among them") && code == Some(1), "{shown}");
    lock.execute(b"UNLOCK TABLES").unwrap();
    fan_in.catch_up();
    assert_eq!(rows(), ["2"]);
}

/// A source that cannot be read keeps its rows on the target.
#[test]
fn nothing_is_taken_away_before_the_source_can_be_read() {
    let mut fan_in = copied(1);
    create(&fan_in, 0, 10);
    run(
        &fan_in.sources[0],
        &[NOT_LOGGED, "CREATE USER agent@localhost IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO agent@localhost"],
    );
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let (head, source) = text.split_once("[[source]]").unwrap();
    let source = source.replace("user = \"root\"", "user = \"agent\"\npassword = \"secret\"");
    fan_in.write(&format!("{head}[[source]]{source}"));
    let _agent = started(&fan_in);
    run(
        &fan_in.sources[0],
        &[
            NOT_LOGGED,
            "REVOKE ALL ON *.* FROM agent@localhost",
            "GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO agent@localhost",
        ],
    );
    says_ok(&fan_in, "copy-again s1");
    stops_with(&fan_in, "s1", "the account may not read all that is copied");
    assert_eq!(texts(&fan_in.target, "SELECT COUNT(*) FROM d1.child"), [["10"]]);
    run(&fan_in.sources[0], &["INSERT INTO d1.no_key VALUES (4)", NOT_LOGGED, "GRANT ALL ON *.* TO agent@localhost"]);
    says_ok(&fan_in, "copy-again s1");
    wait_for_copies(&fan_in);
    assert_equal(&fan_in);
}

/// Their rows cannot be told apart, and all of them would go.
#[test]
fn a_table_that_another_source_writes_to_is_not_dropped() {
    let fan_in = copied(2);
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    let _agent = started(&fan_in);
    run(
        &fan_in.sources[1],
        &[
            "SET sql_log_bin = 0",
            "CREATE DATABASE d",
            "CREATE TABLE d.T (id INT PRIMARY KEY)",
            "RENAME TABLE d.T TO d.t",
            "SET sql_log_bin = 1",
            "INSERT INTO d.t VALUES (2)",
        ],
    );
    fan_in.catch_up();
    let rows = || texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").concat();
    assert_eq!(rows(), ["1", "2"]);
    says_ok(&fan_in, "copy-again s1");
    stops_with(&fan_in, "s1", "s2 has a table d.t, too");
    assert_eq!(rows(), ["1", "2"]);
    // The source goes on where it was.
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (3)"]);
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    assert_eq!(rows(), ["1", "2", "3"]);
}

/// The agent, the target or the source is killed at any time behind the command.
#[test]
fn everything_is_killed_while_a_source_is_copied_again() {
    let seed = env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    let kills: usize = env::var("HORTATOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let fan_in = copied(2);
    (0..2).for_each(|source| create(&fan_in, source, 4_000));
    let mut agent = Some(started(&fan_in));
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for (index, source) in fan_in.sources.iter().enumerate() {
            let ends = &ends;
            scope.spawn(move || {
                let mut dice = Dice::new(index as u64);
                while !ends.load(std::sync::atomic::Ordering::SeqCst) {
                    // The server may be killed at any time.
                    let Ok(mut connection) = source.node(0).connect() else { continue };
                    let update = format!(
                        "UPDATE d{0}.parent SET v = {1} WHERE id = {2}",
                        index + 1,
                        dice.below(99),
                        dice.below(4_000)
                    );
                    let insert =
                        format!("INSERT INTO d{0}.child (parent) VALUES ({1})", index + 1, 1 + dice.below(4_000));
                    for statement in [update, insert] {
                        let _ = connection.execute(statement.as_bytes());
                    }
                    thread::sleep(Duration::from_millis(3));
                }
            });
        }
        for number in 0..kills {
            // Also in the middle of a copy.
            says_ok(&fan_in, "copy-again s1");
            thread::sleep(Duration::from_millis(dice.below(600)));
            let victims = [Victim::Agent, Victim::Target, Victim::Agent, Victim::Source(0)];
            fan_in.kill(victims[number % victims.len()], &mut agent);
        }
    });
    says_ok(&fan_in, "copy-again s1");
    wait_for_copies(&fan_in);
    assert_equal(&fan_in);
}
