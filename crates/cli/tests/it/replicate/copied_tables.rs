//! `copy-again --table`: some tables of a source are copied once more, and the rest of it is applied as before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use hortator_mysql::Connection;

use super::fan_in::{Ends, FanIn, Victim, run, texts};
use super::line_of;
use super::rules::{MERGE, says_ok, stops_with};
use super::snapshot::{assert_copied, copied};
use super::snapshot_merged::copied_under;
use crate::random::Dice;

fn assert_equal(fan_in: &FanIn, schema: &str) {
    assert_copied(&fan_in.sources[0], &fan_in.target, &[schema.to_owned()]);
}

fn create(fan_in: &FanIn) {
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB",
            "CREATE TABLE d.other (id INT PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB",
            "CREATE TABLE d.no_key (v INT) ENGINE=InnoDB",
            "USE d",
            "CREATE TRIGGER upper BEFORE INSERT ON t FOR EACH ROW SET NEW.v = UPPER(NEW.v)",
            "CREATE VIEW d.shown AS SELECT v FROM d.t",
            "INSERT INTO d.t (v) SELECT CONCAT('row ', seq) FROM d.seq_1_to_500",
            "INSERT INTO d.other VALUES (1, 'a'), (2, 'b')",
            "INSERT INTO d.no_key VALUES (1), (1)",
        ],
    );
}

/// A row of the table is missing on the target, the source has stopped at that, and its log goes on with other tables.
#[test]
fn a_table_that_has_stopped_its_source() {
    let fan_in = copied(2);
    create(&fan_in);
    let agent = fan_in.start();
    fan_in.catch_up();
    run(&fan_in.target, &["DELETE FROM d.t WHERE id > 100", "UPDATE d.other SET v = 'of the target' WHERE id = 2"]);
    run(
        &fan_in.sources[0],
        &[
            "UPDATE d.t SET v = 'changed' WHERE id = 300",
            "INSERT INTO d.no_key VALUES (2)",
            "BEGIN",
            "INSERT INTO d.t (v) VALUES ('of a transaction')",
            "INSERT INTO d.other VALUES (3, 'of the same')",
            "COMMIT",
            "ALTER TABLE d.t ADD COLUMN n INT DEFAULT 7",
            "CREATE TABLE d.fresh (id INT PRIMARY KEY)",
            "INSERT INTO d.t (v, n) VALUES ('behind', 8)",
        ],
    );
    stops_with(&fan_in, "s1", "rows of d.t");
    says_ok(&fan_in, "copy-again s1 --table d.t");
    run(&fan_in.sources[0], &["INSERT INTO d.no_key VALUES (3)"]);
    fan_in.catch_up();
    let rows = |query: &str| texts(&fan_in.target, query).concat();
    assert_eq!(rows("SELECT v FROM d.other ORDER BY id"), ["a", "of the target", "of the same"], "only t is copied");
    assert_eq!(rows("SELECT v FROM d.no_key ORDER BY v"), ["1", "1", "2", "3"]);
    run(&fan_in.target, &["UPDATE d.other SET v = 'b' WHERE id = 2"]);
    run(&fan_in.sources[0], &["INSERT INTO d.t (v) VALUES ('last')"]);
    fan_in.catch_up();
    assert_equal(&fan_in, "d");
    assert!(line_of(&fan_in.says("status").0, "s1").contains("running"));
    says_ok(&fan_in, "stop");
    let (log, _) = agent.end();
    assert!(log.contains("s1: copies again by themselves: d.t\n") && log.contains("s1: has copied 1 tables"), "{log}");
    assert!(!log.contains("s2: copies again") && log.matches("has copied").count() == 3, "{log}");
}

/// Two tables that a rule has left out until now, in a schema that the target does not have.
#[test]
fn tables_that_are_new_on_the_target() {
    let mut fan_in = copied_under(1, "[[source.rule]]\nmatch = \"d.*\"\nskip = true\n");
    create(&fan_in);
    let agent = fan_in.start();
    fan_in.catch_up();
    says_ok(&fan_in, "stop");
    agent.end();
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let rules = "[[source.rule]]\nmatch = \"d.no_key\"\nskip = true\n[[source.rule]]\nmatch = \"d.*\"\nto = \"e.*\"\n";
    let head = text.split_once("[[source.rule]]").unwrap().0;
    // The start of a source that is applied already does not matter.
    fan_in.write(&format!("{head}{rules}").replace("start = \"snapshot\"", "start = \"now\""));
    run(&fan_in.sources[0], &["UPDATE d.other SET v = 'x'"]);
    let _agent = fan_in.start_only();
    stops_with(&fan_in, "s1", "e.other");
    says_ok(&fan_in, "copy-again s1 --table d.other --table d.t");
    run(&fan_in.sources[0], &["INSERT INTO d.t (v) VALUES ('x')", "INSERT INTO d.other VALUES (3, 'y')"]);
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id, v FROM e.other"), [["1", "x"], ["2", "x"], ["3", "y"]]);
    assert_eq!(texts(&fan_in.target, "SELECT COUNT(*), MAX(v) FROM e.t"), [["501", "X"]]);
    let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'e' ORDER BY 1";
    assert_eq!(texts(&fan_in.target, tables).concat(), ["other", "t"]);
}

#[test]
fn rows_of_one_source_in_a_table_of_several() {
    let fan_in = copied_under(2, MERGE);
    for (source, rows) in fan_in.sources.iter().zip(["(1, 'a'), (2, 'b'), (3, 'c')", "(1, 'x'), (4, 'y')"]) {
        run(
            source,
            &[
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v CHAR(9)) ENGINE=InnoDB",
                "CREATE TABLE shop.u (id INT PRIMARY KEY) ENGINE=InnoDB",
                &format!("INSERT INTO shop.t VALUES {rows}"),
            ],
        );
    }
    let _agent = fan_in.start();
    fan_in.catch_up();
    run(
        &fan_in.target,
        &["DELETE FROM everything.t WHERE shard = 's1' AND id < 3", "UPDATE everything.t SET v = 'kept'"],
    );
    run(&fan_in.sources[0], &["UPDATE shop.t SET v = 'A' WHERE id = 1", "INSERT INTO shop.u VALUES (1)"]);
    stops_with(&fan_in, "s1", "everything.t");
    run(&fan_in.sources[1], &["INSERT INTO shop.t VALUES (5, 'z')"]);
    says_ok(&fan_in, "copy-again s1 --table shop.t");
    run(&fan_in.sources[1], &["INSERT INTO shop.t VALUES (6, 'z')"]);
    fan_in.catch_up();
    let rows = texts(&fan_in.target, "SELECT shard, GROUP_CONCAT(id, v ORDER BY id) FROM everything.t GROUP BY shard");
    assert_eq!(rows, [["s1", "1A,2b,3c"], ["s2", "1kept,4kept,5z,6z"]]);
    assert_eq!(texts(&fan_in.target, "SELECT shard, id FROM everything.u"), [["s1", "1"]]);
}

/// What the log has of parents, by cascades and restrictions, meets no stale and no later rows of the children.
#[test]
fn foreign_keys_to_and_from_the_table() {
    let fan_in = copied(1);
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.parent (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE d.t (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES d.parent (id)) ENGINE=InnoDB",
            "CREATE TABLE d.u (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES d.parent (id) ON DELETE CASCADE) \
             ENGINE=InnoDB",
            "CREATE TABLE d.child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES d.t (id) ON DELETE CASCADE) \
             ENGINE=InnoDB",
            "INSERT INTO d.parent VALUES (1), (2), (3)",
            "INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO d.u VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO d.child VALUES (1, 1), (2, 2), (3, 3)",
        ],
    );
    let _agent = fan_in.start();
    fan_in.catch_up();
    run(&fan_in.target, &["DELETE FROM d.t WHERE id = 3"]);
    run(
        &fan_in.sources[0],
        &[
            "UPDATE d.t SET parent = 2 WHERE id = 3",
            "DELETE FROM d.t WHERE id = 1",
            "DELETE FROM d.parent WHERE id = 1",
            "INSERT INTO d.parent VALUES (1)",
            "INSERT INTO d.t VALUES (1, 1), (4, 1)",
            "INSERT INTO d.u VALUES (1, 1), (4, 1)",
            "INSERT INTO d.child VALUES (1, 1), (4, 4)",
        ],
    );
    stops_with(&fan_in, "s1", "rows of d.t");
    says_ok(&fan_in, "copy-again s1 --table d.t --table d.u");
    stops_with(&fan_in, "s1", "must be copied with them: add --table d.child to `copy-again`");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").concat(), ["1", "2"]);
    says_ok(&fan_in, "copy-again s1 --table d.t --table d.u --table d.child");
    fan_in.catch_up();
    assert_equal(&fan_in, "d");
    // Both ways hold again.
    run(&fan_in.sources[0], &["DELETE FROM d.t WHERE id = 2", "DELETE FROM d.t WHERE id IN (1, 4)"]);
    run(&fan_in.sources[0], &["DELETE FROM d.parent WHERE id = 1"]);
    fan_in.catch_up();
    assert_equal(&fan_in, "d");
}

#[test]
fn tables_that_cannot_be_copied_again() {
    let rules =
        "[[source.rule]]\nmatch = \"x.hidden\"\nskip = true\n[[source.rule]]\nmatch = \"shop.*\"\nto = \"all.*\"\n";
    let fan_in = copied_under(2, rules);
    create(&fan_in);
    run(&fan_in.sources[0], &["CREATE DATABASE x", "CREATE TABLE x.hidden (id INT)"]);
    for source in &fan_in.sources {
        run(source, &["CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    }
    let _agent = fan_in.start();
    fan_in.catch_up();
    let (said, code) = fan_in.says("copy-again nobody --table d.t");
    assert!(said.contains("there is no source nobody") && code == Some(1), "{said}");
    for (number, (table, found)) in (10..).zip([
        ("d.nothing", "the source has no table d.nothing"),
        ("D.T", "the source has no table D.T"),
        ("mysql.user", "the source has no table mysql.user"),
        ("d.shown", "d.shown is a view on the source"),
        ("x.hidden", "a rule leaves x.hidden out"),
        ("shop.t", "the rows of this source in all.t cannot be told from those of other sources"),
    ]) {
        says_ok(&fan_in, &format!("copy-again s1 --table {table}"));
        stops_with(&fan_in, "s1", found);
        says_ok(&fan_in, "resume s1");
        run(&fan_in.sources[0], &[&format!("INSERT INTO d.no_key VALUES ({number})")]);
        fan_in.catch_up();
        assert_equal(&fan_in, "d");
    }
    run(&fan_in.sources[0], &["SET GLOBAL binlog_format = MIXED"]);
    says_ok(&fan_in, "copy-again s1 --table d.t");
    stops_with(&fan_in, "s1", "the source has binlog_format=MIXED");
    run(&fan_in.sources[0], &["SET GLOBAL binlog_format = ROW"]);
    says_ok(&fan_in, "copy-again s1 --table d.t");
    fan_in.catch_up();
}

/// Definitions in the log before the copy's place: those of the table itself are passed over, since the copy has them. One
/// that names it and makes something else stops the source.
#[test]
fn definitions_before_the_place_of_the_copy() {
    let fan_in = copied(1);
    create(&fan_in);
    let _agent = fan_in.start();
    fan_in.catch_up();
    run(&fan_in.target, &["DROP TABLE d.t"]);
    run(
        &fan_in.sources[0],
        &[
            "INSERT INTO d.t (v) VALUES ('x')",
            "TRUNCATE TABLE d.t",
            "DROP TABLE d.t, d.no_key",
            "CREATE TABLE d.t (id INT PRIMARY KEY, w INT) ENGINE=InnoDB",
            "CREATE INDEX w ON d.t (w)",
            "CREATE TABLE d.copy AS SELECT id, v FROM d.other",
            "INSERT INTO d.t VALUES (1, 2)",
            "CREATE OR REPLACE VIEW d.shown AS SELECT w FROM d.t",
            "RENAME TABLE d.t TO d.away, d.other TO d.t",
            "INSERT INTO d.away VALUES (5, 6)",
        ],
    );
    stops_with(&fan_in, "s1", "d.t");
    says_ok(&fan_in, "copy-again s1 --table d.t");
    stops_with(&fan_in, "s1", "Nothing is applied to d.t before that is copied by itself");
    assert!(fan_in.says("status").0.contains("VIEW `d`.`shown`"), "{}", fan_in.says("status").0);
    assert_eq!(fan_in.says("wait --caught-up --timeout 5").1, Some(1));
    says_ok(&fan_in, "skip s1");
    stops_with(&fan_in, "s1", "RENAME TABLE d.t TO d.away");
    run(&fan_in.target, &["DROP TABLE d.other"]);
    says_ok(&fan_in, "skip s1");
    stops_with(&fan_in, "s1", "d.away");
    says_ok(&fan_in, "copy-again s1 --table d.away");
    fan_in.catch_up();
    run(&fan_in.target, &["CREATE OR REPLACE SQL SECURITY DEFINER VIEW d.shown AS SELECT w FROM d.away"]);
    run(&fan_in.sources[0], &["SET sql_log_bin = 0", "CREATE OR REPLACE VIEW d.shown AS SELECT w FROM d.away"]);
    assert_equal(&fan_in, "d");
}

/// Statements of the writers of the kills. `t` is copied again, with its children.
fn write(connection: &mut Connection, dice: &mut Dice) -> Result<(), hortator_mysql::Error> {
    let (id, n) = (1 + dice.below(300), dice.below(1000));
    if dice.below(60) == 0 {
        let statement = match dice.below(5) {
            0 => format!("ALTER TABLE t ADD COLUMN IF NOT EXISTS c{} INT DEFAULT {n}", id % 3),
            1 => format!("ALTER TABLE t DROP COLUMN IF EXISTS c{}", id % 3),
            2 => "TRUNCATE TABLE plain".to_owned(),
            3 => format!("CREATE OR REPLACE TABLE plain (v INT DEFAULT {n}) ENGINE=InnoDB"),
            _ => format!("ALTER TABLE no_key ADD COLUMN IF NOT EXISTS c{} INT DEFAULT {n}", id % 3),
        };
        connection.execute(statement.as_bytes())?;
    }
    connection.execute(b"BEGIN")?;
    for _ in 0..=dice.below(3) {
        let statement = match dice.below(8) {
            0 => format!("INSERT INTO parent (v) VALUES ({n})"),
            1 => format!("INSERT INTO t (parent, v) SELECT id, '{n}' FROM parent WHERE id >= {id} LIMIT 3"),
            2 => format!("INSERT INTO child (t) SELECT id FROM t WHERE id >= {id} LIMIT 2"),
            3 => format!("DELETE FROM parent WHERE id = {id}"),
            4 => format!("DELETE FROM t WHERE id = {id}"),
            5 => format!("UPDATE t SET v = '{n}' WHERE id BETWEEN {id} AND {}", id + 5),
            6 => format!("INSERT INTO plain (v) VALUES ({n}), ({n})"),
            _ => format!("INSERT INTO no_key (v) VALUES ({n}), ({n})"),
        };
        connection.execute(statement.as_bytes())?;
    }
    connection.execute(if dice.below(10) == 0 { b"ROLLBACK" } else { b"COMMIT" })?;
    Ok(())
}

/// The agent, the target or the source is killed at any time behind the command, while the source writes to all tables and
/// changes their definitions.
#[test]
fn everything_is_killed_while_tables_are_copied_again() {
    let seed = env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    let kills: usize = env::var("HORTATOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let fan_in = copied(1);
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.parent (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, v VARCHAR(60), \
             FOREIGN KEY (parent) REFERENCES d.parent (id) ON DELETE CASCADE) ENGINE=InnoDB",
            "CREATE TABLE d.child (id INT AUTO_INCREMENT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES d.t (id) \
             ON DELETE CASCADE) ENGINE=InnoDB",
            "CREATE TABLE d.plain (v INT) ENGINE=InnoDB",
            "CREATE TABLE d.no_key (v INT) ENGINE=InnoDB",
            "INSERT INTO d.parent (v) SELECT seq FROM d.seq_1_to_300",
            "INSERT INTO d.t (parent, v) SELECT 1 + seq % 300, REPEAT('x', 50) FROM d.seq_1_to_5000",
        ],
    );
    let mut agent = Some(fan_in.start());
    fan_in.catch_up();
    let again = "copy-again s1 --table d.t --table d.child --table d.plain";
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for seed in [dice.below(u64::MAX), dice.below(u64::MAX)] {
            let (source, ends) = (&fan_in.sources[0], &ends);
            scope.spawn(move || {
                let mut dice = Dice::new(seed);
                while !ends.load(Ordering::SeqCst) {
                    // The server may be killed at any time.
                    let Ok(mut connection) = source.node(0).connect() else { continue };
                    let used = connection.execute(b"USE d");
                    while used.is_ok() && !ends.load(Ordering::SeqCst) && write(&mut connection, &mut dice).is_ok() {
                        thread::sleep(Duration::from_millis(3));
                    }
                }
            });
        }
        for number in 0..kills {
            // What was on the target counts no more, and a copy may be under way.
            if dice.below(2) == 0 {
                let _ = fan_in.target.node(0).connect().unwrap().execute(b"DELETE FROM d.plain LIMIT 3");
            }
            says_ok(&fan_in, again);
            thread::sleep(Duration::from_millis(dice.below(900)));
            fan_in.kill([Victim::Agent, Victim::Target, Victim::Agent, Victim::Source(0)][number % 4], &mut agent);
        }
    });
    says_ok(&fan_in, again);
    let inserts = ["INSERT INTO d.parent (v) VALUES (0)", "INSERT INTO d.child (t) VALUES (NULL)"];
    run(&fan_in.sources[0], &inserts);
    run(&fan_in.sources[0], &["INSERT INTO d.t (v) VALUES ('last')"]);
    fan_in.catch_up();
    assert_equal(&fan_in, "d");
}
