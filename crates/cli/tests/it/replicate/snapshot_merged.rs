//! Copies into tables that several sources become, at the same time and while sources write: with a column that says whose the
//! rows are, and without.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use hortator_sandbox::Temporary;

use super::compared::assert_verified;
use super::fan_in::{Ends, FanIn, Victim, run, texts};
use super::line_of;
use super::rules::{MERGE, assert_same, says_ok, stops_with};
use super::snapshot::copied;
use crate::random::Dice;

/// All tables of `shop` into one schema, as they are.
const MIX: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\n";

/// Sources that start with a copy, all with the same rules.
pub fn copied_under(sources: usize, rules: &str) -> FanIn {
    let mut fan_in = copied(sources);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let (head, behind) = text.split_once("[[source]]").unwrap();
    let parts = behind.split("[[source]]").map(|part| format!("[[source]]{part}{rules}"));
    let text = head.to_owned() + &parts.collect::<String>();
    fan_in.write(&text);
    fan_in
}

/// A shop whose ids begin at `first`.
fn create_shop(server: &Temporary, first: u32, rows: u32) {
    let last = first + rows - 1;
    let statements = [
        "CREATE DATABASE shop CHARACTER SET latin1".to_owned(),
        "CREATE TABLE shop.customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) CHARACTER SET utf8mb4, \
         born DATE, mood ENUM('good', 'bad'), long_name VARCHAR(60) AS (CONCAT(name, '!')) STORED, UNIQUE KEY (name)) ENGINE=InnoDB"
            .to_owned(),
        "CREATE TABLE shop.orders (customer INT, at DATETIME(3), total DECIMAL(10,2), note BLOB, PRIMARY KEY (at, customer), \
         FOREIGN KEY (customer) REFERENCES customers (id)) ENGINE=InnoDB"
            .to_owned(),
        "CREATE TABLE shop.visits (id INT, v VARCHAR(20)) ENGINE=InnoDB".to_owned(),
        "CREATE TABLE shop.prices (id INT PRIMARY KEY, price INT) ENGINE=InnoDB WITH SYSTEM VERSIONING".to_owned(),
        format!(
            "INSERT INTO shop.customers (id, name, born, mood) SELECT seq, CONCAT('c', seq), '2000-01-01', 1 + seq % 2 \
             FROM shop.seq_{first}_to_{last}"
        ),
        format!(
            "INSERT INTO shop.orders SELECT seq, '2020-01-01' + INTERVAL seq SECOND, seq / 100, REPEAT(CHAR(seq % 256), 30) \
             FROM shop.seq_{first}_to_{last}"
        ),
        format!("INSERT INTO shop.visits SELECT {first} + 7, 'a visit' FROM shop.seq_{first}_to_{last}"),
        format!("INSERT INTO shop.prices SELECT seq, 1 FROM shop.seq_{first}_to_{}", first + 9),
        "UPDATE shop.prices SET price = 2".to_owned(),
        format!("DELETE FROM shop.prices WHERE id = {first}"),
    ];
    run(server, &statements.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Writes to a shop until it is told to end.
fn write_until(server: &Temporary, first: u32, ends: &AtomicBool) {
    let mut dice = Dice::new(u64::from(first));
    let mut next = first + 500_000;
    while !ends.load(Ordering::SeqCst) {
        // The server may be killed at any time.
        let Ok(mut connection) = server.node(0).connect() else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        while !ends.load(Ordering::SeqCst) {
            next += 1;
            let id = u64::from(first) + dice.below(3000);
            let statements = [
                "BEGIN".to_owned(),
                format!("INSERT INTO shop.customers (id, name) VALUES ({next}, 'n{next}')"),
                format!("UPDATE shop.customers SET name = CONCAT('u', id) WHERE id = {id}"),
                format!("DELETE FROM shop.orders WHERE customer = {id}"),
                format!("INSERT INTO shop.visits VALUES ({next}, NULL)"),
                format!("UPDATE shop.prices SET price = price + 1 WHERE id = {}", u64::from(first) + dice.below(10)),
                "COMMIT".to_owned(),
            ];
            if statements.iter().any(|statement| connection.execute(statement.as_bytes()).is_err()) {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What is compared of a shop; of a table with history, all its rows.
const COLUMNS: [(&str, &str); 4] = [
    ("customers", "id, name, born, mood + 0, long_name"),
    ("orders", "customer, at, total, HEX(note)"),
    ("visits", "id, v"),
    ("prices", "id, price, row_start, row_end"),
];

/// The target has the rows of this source among the others.
fn assert_rows(fan_in: &FanIn, source: usize, condition: &str) {
    for (table, columns) in COLUMNS {
        let history = if table == "prices" { "FOR SYSTEM_TIME ALL" } else { "" };
        let query = |schema: &str, rest: &str| {
            format!("SELECT {columns} FROM {schema}.{table} {history} {rest} ORDER BY {columns}")
        };
        assert_same(fan_in, source, &query("shop", ""), &query("everything", condition));
    }
}

fn first_of(source: usize) -> u32 {
    u32::try_from(source).unwrap() * 1_000_000 + 1
}

fn wait_for_copies(fan_in: &FanIn, sources: usize) {
    fan_in.wait_until("the copies", |shown| {
        assert!(!shown.contains(" stopped "), "{shown}");
        shown.matches(" running ").count() == sources
    });
}

#[test]
fn several_sources_into_tables_with_a_source_column() {
    let fan_in = copied_under(3, MERGE);
    // The same keys everywhere.
    fan_in.sources.iter().for_each(|source| create_shop(source, 1, 4000));
    for source in &fan_in.sources {
        run(
            source,
            &[
                "CREATE TABLE shop.locked (id INT PRIMARY KEY, v TEXT, FULLTEXT KEY (v)) ENGINE=MyISAM",
                "INSERT INTO shop.locked VALUES (1, 'one'), (2, 'two')",
                "CREATE TRIGGER shop.counts AFTER INSERT ON shop.visits FOR EACH ROW SET @n = @n + 1",
                "CREATE VIEW shop.named AS SELECT name FROM shop.customers",
                "CREATE PROCEDURE shop.nothing() SELECT 1",
            ],
        );
    }
    let (shown, code) = fan_in.says("check");
    assert_eq!(code, Some(0), "{shown}");
    let ends = AtomicBool::new(false);
    let agent = thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for source in &fan_in.sources {
            let ends = &ends;
            scope.spawn(move || write_until(source, 1, ends));
        }
        let agent = fan_in.start_only();
        wait_for_copies(&fan_in, 3);
        agent
    });
    fan_in.catch_up();
    for source in 0..3 {
        assert_rows(&fan_in, source, &format!("WHERE shard = 's{}'", source + 1));
    }
    assert_eq!(texts(&fan_in.target, "SELECT COUNT(*) FROM everything.locked"), [["6"]]);
    let keys = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS WHERE \
                TABLE_SCHEMA = 'everything' AND TABLE_NAME = 'orders' AND INDEX_NAME = 'PRIMARY'";
    assert_eq!(texts(&fan_in.target, keys), [["at,customer,shard"]]);
    assert_verified(&fan_in, "", 0, &["same: rows of 12 tables of 3 sources"]);
    says_ok(&fan_in, "stop");
    let (log, _) = agent.end();
    let told = "does not copy what is about tables that are merged: ";
    assert_eq!(log.matches(told).count(), 3, "{log}");
    for left_out in ["trigger shop.counts", "view shop.named", "procedure shop.nothing"] {
        assert!(log.contains(left_out), "{left_out}: {log}");
    }
    let own = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hortator' ORDER BY 1";
    let expected = [["replicate_copied_objects"], ["replicate_positions"], ["replicate_staged_tables"]];
    assert_eq!(texts(&fan_in.target, own), expected);
}

#[test]
fn several_sources_into_tables_without_a_source_column() {
    let fan_in = copied_under(3, MIX);
    (0..3).for_each(|source| create_shop(&fan_in.sources[source], first_of(source), 4000));
    let ends = AtomicBool::new(false);
    let agent = thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for (number, source) in fan_in.sources.iter().enumerate() {
            let ends = &ends;
            scope.spawn(move || write_until(source, first_of(number), ends));
        }
        let agent = fan_in.start_only();
        wait_for_copies(&fan_in, 3);
        agent
    });
    fan_in.catch_up();
    assert_mixed(&fan_in);
    says_ok(&fan_in, "stop");
    agent.end();
}

/// The target has the rows of all sources, and nothing else.
fn assert_mixed(fan_in: &FanIn) {
    for source in 0..fan_in.sources.len() {
        let (first, end) = (first_of(source), first_of(source + 1));
        let condition = format!("WHERE id >= {first} AND id < {end}");
        for (table, columns) in COLUMNS {
            let id = if table == "orders" { "customer" } else { "id" };
            let history = if table == "prices" { "FOR SYSTEM_TIME ALL" } else { "" };
            let condition = condition.replace("id", id);
            let query = |schema: &str| {
                format!("SELECT {columns} FROM {schema}.{table} {history} {condition} ORDER BY {columns}")
            };
            assert_same(fan_in, source, &query("shop"), &query("everything"));
        }
    }
    for (table, _) in COLUMNS {
        let count = |server: &Temporary, schema: &str| -> u64 {
            texts(server, &format!("SELECT COUNT(*) FROM {schema}.{table}"))[0][0].parse().unwrap()
        };
        let expected: u64 = fan_in.sources.iter().map(|source| count(source, "shop")).sum();
        assert_eq!(count(&fan_in.target, "everything"), expected, "{table}");
    }
}

/// Everything is killed while all sources copy into the same tables.
fn kill_everything(fan_in: &FanIn, first_of: fn(usize) -> u32) {
    const KILLS: u64 = 6;
    let seed = env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let ends = AtomicBool::new(false);
    let mut agent = Some(fan_in.start_only());
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for (number, source) in fan_in.sources.iter().enumerate() {
            let ends = &ends;
            scope.spawn(move || write_until(source, first_of(number), ends));
        }
        for _ in 0..KILLS {
            thread::sleep(Duration::from_millis(dice.below(1500)));
            let victim = match dice.below(4) {
                0 | 1 => Victim::Agent,
                2 => Victim::Target,
                _ => Victim::Source(usize::try_from(dice.below(2)).unwrap()),
            };
            fan_in.kill(victim, &mut agent);
        }
        wait_for_copies(fan_in, fan_in.sources.len());
    });
    fan_in.catch_up();
    drop(agent);
}

#[test]
fn kills_during_copies_with_a_source_column() {
    let fan_in = copied_under(2, MERGE);
    fan_in.sources.iter().for_each(|source| create_shop(source, 1, 40_000));
    kill_everything(&fan_in, |_| 1);
    for source in 0..2 {
        assert_rows(&fan_in, source, &format!("WHERE shard = 's{}'", source + 1));
    }
}

#[test]
fn kills_during_copies_without_a_source_column() {
    let fan_in = copied_under(2, MIX);
    (0..2).for_each(|source| create_shop(&fan_in.sources[source], first_of(source), 40_000));
    kill_everything(&fan_in, first_of);
    assert_mixed(&fan_in);
}

#[test]
fn rows_with_the_same_key_stop_the_copy_where_nothing_tells_them_apart() {
    let fan_in = copied_under(2, MIX);
    for (source, rows) in fan_in.sources.iter().zip(["(1), (2)", "(2), (3)"]) {
        let rows = format!("INSERT INTO shop.t VALUES {rows}");
        run(source, &["CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE=InnoDB", &rows]);
    }
    let _agent = fan_in.start_only();
    fan_in.wait_until("one to stop", |shown| shown.contains(" stopped ") && shown.contains(" running "));
    let (shown, _) = fan_in.says("status");
    assert!(
        shown.contains("Duplicate entry '2'") && shown.contains("a row of another source has the same key"),
        "{shown}"
    );
    let stopped = if line_of(&shown, "s1").contains("stopped") { "s1" } else { "s2" };
    let there = if stopped == "s1" { [["2"], ["3"]] } else { [["1"], ["2"]] };
    assert_eq!(texts(&fan_in.target, "SELECT id FROM everything.t ORDER BY id"), there, "nothing of it is there");
    run(&fan_in.target, &["DELETE FROM everything.t WHERE id = 2"]);
    says_ok(&fan_in, &format!("resume {stopped}"));
    wait_for_copies(&fan_in, 2);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM everything.t ORDER BY id"), [["1"], ["2"], ["3"]]);
}

#[test]
fn what_stops_a_copy_into_tables_that_are_there() {
    let fan_in = copied_under(1, MERGE);
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "INSERT INTO shop.t VALUES (1, 1), (2, 2)",
        ],
    );
    run(
        &fan_in.target,
        &[
            "CREATE DATABASE everything CHARACTER SET ucs2 COLLATE ucs2_swedish_ci",
            "CREATE TABLE everything.t (id INT, shard VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, \
             PRIMARY KEY (id, shard)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci",
            "INSERT INTO everything.t VALUES (1, 's1'), (1, 'old'), (7, 'S1')",
        ],
    );
    let _agent = fan_in.start_only();
    let resume = || says_ok(&fan_in, "resume s1");
    stops_with(&fan_in, "s1", "the target has the schema `everything` with the collation ucs2_swedish_ci");
    let collation =
        texts(source, "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'shop'");
    run(&fan_in.target, &[&format!("ALTER DATABASE everything COLLATE {}", collation[0][0])]);
    resume();
    stops_with(&fan_in, "s1", "the target has everything.t with another definition");
    run(&fan_in.target, &["ALTER TABLE everything.t ADD COLUMN v INT DEFAULT NULL AFTER id"]);
    run(&fan_in.target, &["CREATE TRIGGER everything.g BEFORE INSERT ON everything.t FOR EACH ROW SET NEW.v = 0"]);
    resume();
    stops_with(&fan_in, "s1", "the target's table everything.t has the trigger g");
    run(&fan_in.target, &["DROP TRIGGER everything.g"]);
    resume();
    stops_with(&fan_in, "s1", "the target has rows of this source in everything.t already (`shard` = 's1')");
    let rows = "SELECT id, v, shard FROM everything.t ORDER BY shard, id";
    assert_eq!(texts(&fan_in.target, rows).len(), 3, "nothing is deleted");
    run(&fan_in.target, &["DELETE FROM everything.t WHERE shard = 's1'"]);
    resume();
    wait_for_copies(&fan_in, 1);
    let expected = [["7", "", "S1"], ["1", "", "old"], ["1", "1", "s1"], ["2", "2", "s1"]];
    assert_eq!(texts(&fan_in.target, rows), expected);
}
