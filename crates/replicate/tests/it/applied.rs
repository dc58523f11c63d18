//! The log of one server applied to another: the two hold the same then, whatever the log looks like, and wherever the applier
//! was ended in between.

use hortator_check::state;
use hortator_replicate::apply::{Applier, Error, InDoubt, SourcePosition};
use hortator_replicate::binlog::{Content, Event};
use hortator_replicate::transaction::{Assembler, LogPosition, Transaction};
use hortator_sandbox::{Builder, Temporary};

use crate::source::{files, read_file, run, source, texts};

/// The schema of the positions.
const OWN: &str = "hortator";

/// What the log may hold of one schema.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(300), x DECIMAL(30,10), d DOUBLE, j JSON, \
     b LONGBLOB, ts TIMESTAMP(6) NULL, e ENUM('a','b'), s SET('x','y'), g INT AS (id * 2) VIRTUAL, KEY (v)) ENGINE=InnoDB",
    "CREATE TABLE d.l (v VARCHAR(50)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
    "CREATE TABLE d.m (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=MyISAM",
    "CREATE TABLE d.c (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES d.t (id) ON DELETE CASCADE)",
    "INSERT INTO d.t (v, x, d, ts, e, s) VALUES ('ä€😀', 123.4567890123, 0.1, '2024-02-29 12:34:56.789012', 'b', 'x,y')",
    "INSERT INTO d.t (v, b) VALUES ('large', REPEAT('x', 100000)), (NULL, NULL)",
    "INSERT INTO d.l VALUES ('ä'), ('ä'), ('ß')",
    "DELETE FROM d.l WHERE v = 'ä' LIMIT 1",
    "INSERT INTO d.c VALUES (1, 1), (2, 2), (3, NULL)",
    "BEGIN",
    "UPDATE d.t SET j = '{\"a\": [1, 2, 3]}', v = CONCAT(v, '!')",
    "DELETE FROM d.t WHERE id = 2",
    "INSERT INTO d.m VALUES (1, 'one')",
    "INSERT INTO d.t (v) VALUES ('last of a transaction')",
    "COMMIT",
    "SET SESSION binlog_format = 'STATEMENT', time_zone = '+03:00', sql_mode = 'ANSI_QUOTES'",
    "SET @text = 'of a variable', @number = -7, @large = 18446744073709551615, @decimal = -1234567890.1234, @real = 1e-7, \
     @none = NULL, timestamp = 1700000000.25",
    "INSERT INTO d.t (v, x, d) VALUES (@text, @decimal, @real), (@none, @number, @large), (RAND(), 1, RAND())",
    "INSERT INTO d.t (v, ts) VALUES (\"v\", NOW(6)), (LAST_INSERT_ID(), FROM_UNIXTIME(1700000000))",
    "SET SESSION binlog_format = 'ROW', sql_mode = DEFAULT, time_zone = DEFAULT, timestamp = DEFAULT",
    "CREATE TABLE d.copy AS SELECT id, v FROM d.t",
    "SET NAMES latin1",
    "CREATE VIEW d.w AS SELECT 'latin1: \u{e4}' AS v, id FROM d.t",
    "SET NAMES utf8mb4",
    "CREATE PROCEDURE d.p() BEGIN INSERT INTO t (v) VALUES ('by a procedure'); INSERT INTO m VALUES (2, 'two'); END",
    "USE d",
    "CALL p()",
    "CREATE TRIGGER d.tr BEFORE INSERT ON d.t FOR EACH ROW SET NEW.v = CONCAT('trigger: ', NEW.v)",
    "INSERT INTO t (v) VALUES ('fires')",
    "SET SESSION foreign_key_checks = 0",
    "INSERT INTO d.c VALUES (9, 999)",
    "CREATE TABLE d.before_its_parent (id INT, FOREIGN KEY (id) REFERENCES d.none (id))",
    "SET SESSION foreign_key_checks = 1",
    "ALTER TABLE d.l ADD CONSTRAINT short CHECK (LENGTH(v) < 30)",
    "SET SESSION check_constraint_checks = 0, binlog_format = 'STATEMENT'",
    "INSERT INTO d.l VALUES ('longer than the constraint of this table allows')",
    "SET SESSION check_constraint_checks = 1, sql_if_exists = 1",
    "DROP TABLE d.is_not_there",
    "SET SESSION sql_if_exists = 0, binlog_format = 'ROW'",
    "ALTER TABLE d.t ADD COLUMN n INT DEFAULT 7 AFTER id, DROP COLUMN s",
    "UPDATE d.t SET n = id WHERE id IN (1, 3)",
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "UPDATE d.t SET n = 8 WHERE id = 1",
    "DELETE FROM d.t WHERE id = 3",
    "SET SESSION binlog_row_image = 'FULL'",
    "TRUNCATE TABLE d.copy",
    "FLUSH BINARY LOGS",
    "INSERT INTO t (v, b) SELECT 'many', REPEAT(id, 20000) FROM d.t JOIN (SELECT 1 UNION SELECT 2 UNION SELECT 3) three",
    "CREATE SEQUENCE d.s START WITH 5",
    "SELECT NEXTVAL(d.s)",
    "DROP TABLE d.copy",
    // The log does not say how far a counter is ahead of the last row.
    "INSERT INTO t (v) VALUES ('the last')",
];

fn target(settings: &[(&str, &str)]) -> Temporary {
    let builder = settings.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
    builder.start_temporary().expect("a private server starts")
}

fn log_of(source: &Temporary) -> Vec<Event> {
    let names = files(&mut source.node(0).connect().unwrap());
    names.iter().flat_map(|name| read_file(&source.node(0).data_dir().join(name))).collect()
}

/// What is taken in turn: a format description or a transaction.
enum Item {
    Format(Event),
    Transaction(Transaction),
}

fn items(events: Vec<Event>) -> Vec<Item> {
    let mut assembler = Assembler::new(LogPosition { file: b"bin.000001".to_vec(), position: 4 });
    let mut found = Vec::new();
    for event in events {
        if matches!(event.content, Content::Format(_)) {
            found.push(Item::Format(event.clone()));
        }
        found.extend(assembler.take(event).unwrap().map(Item::Transaction));
    }
    found
}

fn open(target: &Temporary) -> Result<Applier, Error> {
    Applier::open(target.node(0).connect().unwrap(), OWN, "one", InDoubt::Ask)
}

/// Applies a log from its beginning.
fn apply_all(source: &Temporary, applier: &mut Applier) -> Result<(), Error> {
    for item in items(log_of(source)) {
        match item {
            Item::Format(event) => applier.format(&event)?,
            Item::Transaction(one) => applier.apply(one)?,
        }
    }
    applier.flush()
}

fn assert_equal(source: &Temporary, target: &Temporary) {
    let describe = |server: &Temporary| state::describe(&mut server.node(0).connect().unwrap(), "d").unwrap();
    let differences = describe(source).differences(&describe(target));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The source's log, all of it, in a target that has these settings.
fn check(of_source: &[(&str, &str)], of_target: &[(&str, &str)]) {
    let (source, target) = (source(of_source), target(of_target));
    run(&mut source.node(0).connect().unwrap(), STATEMENTS);
    let mut applier = open(&target).unwrap();
    apply_all(&source, &mut applier).unwrap();
    assert_equal(&source, &target);
    let gtid = texts(&mut source.node(0).connect().unwrap(), "SELECT @@gtid_binlog_pos")[0][0].clone();
    assert_eq!(applier.position().unwrap().gtid.to_string(), gtid);
}

#[test]
fn a_log_of_one_server() {
    check(&[], &[]);
}

#[test]
fn a_compressed_log_without_checksums_to_a_server_with_other_defaults() {
    let source = [("binlog_checksum", "NONE"), ("log_bin_compress", "ON"), ("log_bin_compress_min_len", "10")];
    let target = [
        ("sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"),
        ("character_set_server", "latin1"),
        ("collation_server", "latin1_bin"),
        ("default_time_zone", "-05:00"),
    ];
    check(&source, &target);
}

#[test]
fn statements_larger_than_the_targets_packets() {
    check(&[], &[("max_allowed_packet", "1M")]);
}

#[test]
fn one_statement_larger_than_the_targets_packets() {
    let (source, target) = (source(&[]), target(&[("max_allowed_packet", "1M")]));
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT) ENGINE=InnoDB",
        "CREATE TABLE d.m (id INT PRIMARY KEY, v TEXT) ENGINE=MyISAM",
        "INSERT INTO d.t SELECT seq, REPEAT('x', 30000) FROM d.seq_1_to_200",
        "INSERT INTO d.m SELECT * FROM d.t",
        "UPDATE d.t JOIN d.m USING (id) SET t.v = CONCAT(t.v, 'y'), m.v = CONCAT(m.v, 'z') WHERE t.id > 100",
        "DELETE FROM d.t WHERE id % 2 = 0",
    ];
    run(&mut source.node(0).connect().unwrap(), &statements);
    let mut applier = open(&target).unwrap();
    apply_all(&source, &mut applier).unwrap();
    assert_equal(&source, &target);
}

#[test]
fn an_applier_that_is_ended_goes_on_at_its_position() {
    let (source, target) = (source(&[]), target(&[]));
    run(&mut source.node(0).connect().unwrap(), STATEMENTS);
    let all = items(log_of(&source));
    let count = all.iter().filter(|item| matches!(item, Item::Transaction(_))).count();
    // Another applier after each transaction, which is sent the log from its beginning.
    for turn in 1..=count + 1 {
        let mut applier = open(&target).unwrap();
        let position = applier.position().map(|at| at.position.clone());
        let mut is_behind = position.is_none();
        let mut applied = 0;
        for item in &all {
            match item {
                Item::Format(event) => applier.format(event).unwrap(),
                Item::Transaction(one) if is_behind && applied < 1 => {
                    applier.apply(one.clone()).unwrap();
                    applied += 1;
                }
                Item::Transaction(one) => is_behind |= Some(&one.position) == position.as_ref(),
            }
        }
        if turn % 3 > 0 {
            applier.flush().unwrap();
        }
        // Else the group goes with the applier, and is applied by the next.
    }
    let mut applier = open(&target).unwrap();
    let mut position = applier.position().map(|at| at.position.clone());
    for item in &all {
        match item {
            Item::Format(event) => applier.format(event).unwrap(),
            Item::Transaction(one) if position.is_none() => applier.apply(one.clone()).unwrap(),
            Item::Transaction(one) => position = position.filter(|at| *at != one.position),
        }
    }
    applier.flush().unwrap();
    assert_equal(&source, &target);
}

/// The source is the target of another agent: what it says of its sources is not what this target says of its own.
#[test]
fn positions_in_the_log_are_left_out() {
    let (source, target) = (source(&[]), target(&[("autocommit", "0"), ("completion_type", "RELEASE")]));
    let mut connection = source.node(0).connect().unwrap();
    drop(Applier::open(source.node(0).connect().unwrap(), OWN, "one", InDoubt::Ask).unwrap());
    run(
        &mut connection,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "BEGIN",
            "INSERT INTO d.t VALUES (1)",
            "REPLACE INTO hortator.replicate_positions VALUES ('one', 'other.000009', 99, '7-7-7', NULL, NULL, NULL)",
            "COMMIT",
            "REPLACE INTO hortator.replicate_positions VALUES ('two', 'other.000009', 99, '7-7-7', NULL, NULL, NULL)",
            "INSERT INTO d.t VALUES (2)",
        ],
    );
    let mut applier = open(&target).unwrap();
    apply_all(&source, &mut applier).unwrap();
    assert_equal(&source, &target);
    let gtid = texts(&mut connection, "SELECT @@gtid_binlog_pos")[0][0].clone();
    let rows = texts(&mut target.node(0).connect().unwrap(), "SELECT source, gtid FROM hortator.replicate_positions");
    assert_eq!(rows, [["one".to_owned(), gtid]]);
}

#[test]
fn a_row_that_is_there_already() {
    let (source, target) = (source(&[]), target(&[]));
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 1)",
        "INSERT INTO d.t VALUES (2, 2)",
        "INSERT INTO d.t VALUES (3, 3)",
    ];
    run(&mut source.node(0).connect().unwrap(), &statements);
    run(&mut target.node(0).connect().unwrap(), &statements[..2]);
    run(&mut target.node(0).connect().unwrap(), &["INSERT INTO d.t VALUES (2, 7)"]);
    let mut applier = open(&target).unwrap();
    applier.start_at(SourcePosition::default()).unwrap();
    let mut error = None;
    for item in items(log_of(&source)).into_iter() {
        let done = match &item {
            Item::Format(event) => applier.format(event),
            // The definitions are there.
            Item::Transaction(one) if one.gtid.is_some_and(|gtid| gtid.is_ddl()) => Ok(()),
            Item::Transaction(one) => applier.apply(one.clone()),
        };
        done.unwrap();
    }
    if let Err(found) = applier.flush() {
        error = Some(found.to_string());
    }
    let error = error.expect("the row is there already");
    assert!(error.contains("1062") && error.contains("GTID position 0-1-4"), "{error}");
    // What stands before it in its group is applied.
    let rows = texts(&mut target.node(0).connect().unwrap(), "SELECT * FROM d.t");
    assert_eq!(rows, [["1", "1"], ["2", "7"]]);
    assert_eq!(applier.position().unwrap().gtid.to_string(), "0-1-3");
}

/// Definitions that an earlier run has begun and that have run, but the record of their end is missing.
#[test]
fn definitions_that_an_earlier_run_had_begun() {
    let (source, target) = (source(&[]), target(&[]));
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "ALTER TABLE t ADD COLUMN v INT, ADD KEY (v)",
        "ALTER TABLE t ADD KEY (v)",
        "RENAME TABLE t TO u",
        "CREATE VIEW v AS SELECT * FROM u",
        "CREATE TRIGGER tr BEFORE INSERT ON u FOR EACH ROW SET NEW.v = 1",
        "CREATE OR REPLACE VIEW v AS SELECT id FROM u",
        "CREATE PROCEDURE p() SELECT 1",
        "TRUNCATE TABLE u",
        "CREATE USER someone@localhost",
        "DROP USER someone@localhost",
        "DROP PROCEDURE p",
        "CREATE TABLE w (id INT)",
        "DROP TABLE u, w",
        "DROP VIEW v",
        "CREATE SEQUENCE s",
    ];
    run(&mut source.node(0).connect().unwrap(), &statements);
    let mut connection = target.node(0).connect().unwrap();
    let place = LogPosition { file: b"bin.000001".to_vec(), position: 4 };
    open(&target).unwrap().start_at(SourcePosition { position: place, ..SourcePosition::default() }).unwrap();
    // Takes down what is on record while a statement runs.
    run(
        &mut connection,
        &[
            "CREATE TABLE hortator.marks (begun LONGBLOB, before_it BLOB)",
            "INSERT INTO hortator.marks VALUES (NULL, NULL)",
            "CREATE TRIGGER hortator.mark AFTER INSERT ON hortator.replicate_positions FOR EACH ROW \
             UPDATE hortator.marks SET before_it = IF(NEW.begun IS NULL, before_it, NEW.before_it), \
             begun = COALESCE(NEW.begun, begun)",
        ],
    );
    let mut format = None;
    for item in items(log_of(&source)) {
        let transaction = match item {
            Item::Format(event) => {
                format = Some(event);
                continue;
            }
            Item::Transaction(transaction) => transaction,
        };
        let text = String::from_utf8(transaction.text()).unwrap();
        let before = open(&target).unwrap().position().cloned().unwrap();
        let apply = || {
            let mut applier = open(&target).unwrap();
            applier.format(format.as_ref().unwrap()).unwrap();
            applier.apply(transaction.clone()).unwrap_or_else(|error| panic!("{text}: {error}"));
        };
        apply();
        let after = state::describe(&mut connection, "d").unwrap();
        open(&target).unwrap().start_at(before).unwrap();
        let mark = "UPDATE hortator.replicate_positions SET begun = (SELECT begun FROM hortator.marks), \
                    before_it = (SELECT before_it FROM hortator.marks)";
        run(&mut connection, &[mark]);
        assert_eq!(texts(&mut connection, "SELECT begun FROM hortator.replicate_positions")[0][0], text);
        apply();
        let differences = after.differences(&state::describe(&mut connection, "d").unwrap());
        assert!(differences.is_empty(), "{text}: {}", differences.join("\n"));
    }
    assert_equal(&source, &target);
}

/// The first of two tables is gone, as a server leaves it that ends between them.
#[test]
fn a_definition_that_is_in_doubt() {
    let (source, target) = (source(&[]), target(&[]));
    let statements =
        ["CREATE DATABASE d", "CREATE TABLE d.one (id INT)", "CREATE TABLE d.two (id INT)", "DROP TABLE d.one, d.two"];
    run(&mut source.node(0).connect().unwrap(), &statements);
    for item in items(log_of(&source)) {
        let mut applier = open(&target).unwrap();
        match item {
            Item::Format(event) => applier.format(&event).unwrap(),
            Item::Transaction(one) if !one.text().starts_with(b"DROP") => applier.apply(one).unwrap(),
            Item::Transaction(one) => {
                drop(applier);
                let text = String::from_utf8(one.text()).unwrap();
                let mark =
                    format!("UPDATE hortator.replicate_positions SET begun = '{text}', before_it = 'definition 00'");
                run(&mut target.node(0).connect().unwrap(), &[&mark.replace('`', "\\`"), "DROP TABLE d.one"]);
                let error = open(&target).unwrap().apply(one.clone()).unwrap_err().to_string();
                assert!(
                    error.contains("DROP TABLE") && error.contains("0-1-3") && error.contains("`skip` it"),
                    "{error}"
                );
                // A person says that it runs again: the other table goes.
                let connection = target.node(0).connect().unwrap();
                let mut applier = Applier::open(connection, OWN, "one", InDoubt::Decided).unwrap();
                applier.apply(one).unwrap();
            }
        }
    }
    assert_equal(&source, &target);
}
