//! Definitions that change under a copy, and rules that change what is copied.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use hortator_mysql::Connection;

use super::fan_in::{Ends, run, texts};
use super::line_of;
use super::snapshot::{assert_copied, copied};
use crate::random::Dice;

/// What InnoDB does not notice: a snapshot of one table is read as another's.
#[test]
fn definitions_that_change_under_the_copy() {
    let fan_in = copied(1);
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE d",
            // Its rows take a while: it is copied first.
            "CREATE TABLE d.aa_large (id INT PRIMARY KEY, v VARCHAR(2000)) ENGINE=InnoDB",
            "INSERT INTO d.aa_large SELECT seq, REPEAT('x', 2000) FROM d.seq_1_to_40000",
            "CREATE TABLE d.one (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE d.two LIKE d.one",
            "INSERT INTO d.one VALUES (1)",
            "INSERT INTO d.two VALUES (2), (22)",
            "CREATE TABLE d.parts (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (10))",
            "CREATE TABLE d.part (id INT PRIMARY KEY) ENGINE=InnoDB",
            "INSERT INTO d.parts VALUES (3)",
            "INSERT INTO d.part VALUES (4), (5)",
        ],
    );
    let agent = fan_in.start_only();
    fan_in.wait_until("rows", |shown| line_of(shown, "s1").contains("0/5 tables, ") && !shown.contains(", 0 rows"));
    assert_eq!(fan_in.says("pause s1"), (String::new(), Some(0)));
    fan_in.wait_until("the pause", |shown| line_of(shown, "s1").contains("paused"));
    run(
        source,
        &[
            "SET STATEMENT lock_wait_timeout = 60 FOR RENAME TABLE d.one TO d.x, d.two TO d.one, d.x TO d.two",
            "SET STATEMENT lock_wait_timeout = 60 FOR ALTER TABLE d.parts EXCHANGE PARTITION p WITH TABLE d.part",
            "CREATE TABLE d.new (id INT PRIMARY KEY)",
            "INSERT INTO d.new VALUES (1)",
        ],
    );
    assert_eq!(fan_in.says("resume s1"), (String::new(), Some(0)));
    fan_in.wait_until("the copy", |shown| line_of(shown, "s1").contains("running"));
    fan_in.catch_up();
    assert_copied(source, &fan_in.target, &["d".to_owned()]);
    fan_in.says("stop");
    let (log, _) = agent.end();
    assert!(log.contains("a definition changed under the copy, which begins anew: "), "{log}");
}

/// A definition of one of a few names.
fn define(connection: &mut Connection, dice: &mut Dice) {
    let (n, table, other) = (dice.below(1000), dice.below(4), dice.below(4));
    let statements = match dice.below(12) {
        0 => vec![format!("RENAME TABLE t{table} TO x, t{other} TO t{table}, x TO t{other}")],
        1 => vec![format!("ALTER TABLE t{table} ADD COLUMN IF NOT EXISTS c{other} INT DEFAULT {n}, ALGORITHM=INSTANT")],
        2 => vec![format!("ALTER TABLE t{table} DROP COLUMN IF EXISTS c{other}")],
        3 => {
            vec![format!("TRUNCATE t{table}"), format!("INSERT INTO t{table} (id) SELECT seq FROM seq_1_to_{}", n + 1)]
        }
        4 => vec![format!("CREATE OR REPLACE TABLE t{table} (id INT PRIMARY KEY, c{other} INT DEFAULT {n})")],
        5 => vec![
            "CREATE TABLE IF NOT EXISTS part (id INT PRIMARY KEY) ENGINE=InnoDB".to_owned(),
            format!("REPLACE INTO part VALUES ({n})"),
            "ALTER TABLE parts EXCHANGE PARTITION p WITH TABLE part".to_owned(),
        ],
        6 => vec!["ALTER TABLE parts TRUNCATE PARTITION p".to_owned(), format!("REPLACE INTO parts VALUES ({n})")],
        7 => vec![format!("CREATE OR REPLACE VIEW v{table} AS SELECT id, {n} AS n FROM t{table}")],
        8 => vec![format!("DROP VIEW IF EXISTS v{table}")],
        9 => vec![format!("CREATE OR REPLACE FUNCTION f{table}() RETURNS INT DETERMINISTIC RETURN {n}")],
        10 => vec![format!("CREATE OR REPLACE SEQUENCE s{table} START {n}"), format!("DO NEXTVAL(s{table})")],
        _ => vec![format!("DROP SEQUENCE IF EXISTS s{table}")],
    };
    for statement in statements {
        // Some do not fit what is there.
        let _ = connection.execute(statement.as_bytes());
    }
    let _ = connection.execute(format!("INSERT INTO t{table} (id) VALUES ({}), ({})", n * 50, n * 50 + 1).as_bytes());
}

#[test]
fn definitions_of_all_kinds_change_under_the_copy() {
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    let fan_in = copied(1);
    let source = &fan_in.sources[0];
    let mut statements = vec!["CREATE DATABASE d".to_owned()];
    statements.extend((0..4).map(|number| format!("CREATE TABLE d.t{number} (id INT PRIMARY KEY) ENGINE=InnoDB")));
    statements.extend((0..4).map(|number| format!("INSERT INTO d.t{number} SELECT seq FROM d.seq_1_to_20000")));
    statements.extend((0..4).map(|number| format!("CREATE VIEW d.v{number} AS SELECT id FROM d.t{number}")));
    let parts =
        "CREATE TABLE d.parts (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (100000))";
    statements.push(parts.to_owned());
    run(source, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    let ends = AtomicBool::new(false);
    let agent = thread::scope(|scope| {
        let _at_end = Ends(&ends);
        scope.spawn(|| {
            let (mut dice, mut connection) = (Dice::new(seed), source.node(0).connect().unwrap());
            connection.execute(b"USE d").unwrap();
            // They come less and less often: a copy comes to its end at some time, however slow the machine.
            for longer in (0..).step_by(5) {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                define(&mut connection, &mut dice);
                thread::sleep(Duration::from_millis(dice.below(400 + longer)));
            }
        });
        let agent = fan_in.start_only();
        fan_in.wait_until("the copy", |shown| {
            if line_of(shown, "s1").contains("stopped") {
                // A view may have no table for a moment, and ten changes may come in a row.
                let may_be = shown.contains("the view d.v") || shown.contains("definitions changed on the source");
                assert!(may_be, "{shown}");
                fan_in.says("resume s1");
            }
            line_of(shown, "s1").contains("running")
        });
        agent
    });
    fan_in.catch_up();
    assert_copied(source, &fan_in.target, &["d".to_owned()]);
    fan_in.says("stop");
    eprintln!("{}", agent.end().0);
}

/// Two sources with the same names, which rules tell apart; and what they leave out, with what is on it.
#[test]
fn a_copy_under_rules() {
    let mut fan_in = copied(2);
    for source in &fan_in.sources {
        run(
            source,
            &[
                "CREATE DATABASE shop CHARACTER SET latin1",
                "CREATE TABLE shop.customers (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB",
                "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, FOREIGN KEY (customer) REFERENCES customers (id))",
                "CREATE TABLE shop.log (id INT) ENGINE=MyISAM",
                "CREATE TABLE shop.counted (n INT)",
                "INSERT INTO shop.customers VALUES (1, 'one'), (2, 'two')",
                "INSERT INTO shop.orders VALUES (10, 1), (11, 2)",
                "INSERT INTO shop.log VALUES (1)",
                "CREATE DATABASE secret",
                "CREATE TABLE secret.keys (id INT PRIMARY KEY)",
            ],
        );
        let mut connection = source.node(0).connect().unwrap();
        for statement in [
            "USE shop",
            "CREATE VIEW named AS SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer",
            "CREATE TRIGGER logged AFTER INSERT ON log FOR EACH ROW SET @n = 1",
        ] {
            connection.execute(statement.as_bytes()).unwrap();
        }
    }
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let mut sources = text.split("[[source]]");
    let mut text = sources.next().unwrap().to_owned();
    for (number, source) in (1..).zip(sources) {
        text += &format!(
            "[[source]]{source}\n[[source.rule]]\nmatch = \"secret.*\"\nskip = true\n[[source.rule]]\nmatch = \
             \"shop.log\"\nskip = true\n[[source.rule]]\nmatch = \"shop.*\"\nto = \"shop{number}.*\"\n\n"
        );
    }
    fan_in.write(&text);
    let (shown, code) = fan_in.says("check");
    assert!(code == Some(0) && !shown.contains("no snapshot"), "{shown}");
    let agent = fan_in.start_only();
    fan_in.wait_until("the copies", |shown| {
        assert!(!shown.contains(" stopped "), "{shown}");
        shown.matches(" running ").count() == 2
    });
    for source in &fan_in.sources {
        run(source, &["INSERT INTO shop.orders VALUES (12, 1)", "INSERT INTO shop.log VALUES (2)"]);
    }
    fan_in.catch_up();
    let shown = texts(&fan_in.target, "SHOW DATABASES WHERE `Database` NOT IN ('sys', 'test')");
    let shown: Vec<&str> = shown.iter().map(|row| &*row[0]).collect();
    let expected = ["hortator", "information_schema", "mysql", "performance_schema", "shop1", "shop2"];
    assert_eq!(shown, expected, "nothing of what is left out");
    for schema in ["shop1", "shop2"] {
        let tables = texts(&fan_in.target, &format!("SHOW TABLES FROM {schema}"));
        assert_eq!(tables, [["counted"], ["customers"], ["named"], ["orders"]]);
        let rows = texts(&fan_in.target, &format!("SELECT id, name FROM {schema}.named ORDER BY id"));
        assert_eq!(rows, [["10", "one"], ["11", "two"], ["12", "one"]]);
        let parent = "SELECT UNIQUE_CONSTRAINT_SCHEMA FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ";
        assert_eq!(texts(&fan_in.target, &format!("{parent}'{schema}'")), [[schema]]);
    }
    drop(agent);

    // Tables that are not the same do not become one.
    fan_in.says("stop");
    run(&fan_in.target, &["DROP DATABASE shop1", "DROP DATABASE shop2", "DROP DATABASE hortator"]);
    fan_in.write(&text.replacen("match = \"shop.*\"\nto = \"shop2.*\"", "match = \"shop.*\"\nto = \"shop2.all\"", 1));
    let _agent = fan_in.start_only();
    fan_in.wait_until("one to stop", |shown| shown.contains(" stopped ") && shown.contains(" running "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("s2: the target has shop2.all with another definition"), "{shown}");
}
