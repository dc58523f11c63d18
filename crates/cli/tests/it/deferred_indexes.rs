//! `--defer-indexes`: the indexes are those of the client, in its order. [`ended`] is about loads that end early, [`faults`]
//! about builds that fail, [`fulltext`] about FULLTEXT and SPATIAL indexes, [`on_cluster`] and [`cluster_faults`] about clusters.
//!
//! That random dumps give the client's state is held in [`crate::random`].

mod cluster_faults;
mod drop_beside_builds;
mod ended;
mod existing_tables;
mod faults;
mod fulltext;
mod lost_session;
mod on_cluster;

use std::io::Write;
use std::time::Duration;

use crate::compare::{Terms, assert_same, compare};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, Running, run};
use crate::servers::{Server, pair};
use crate::target;

const ALWAYS: &str = "--defer-indexes=always";
const LIMIT: Duration = Duration::from_secs(300);

/// A point as a literal: the value of a function would go through the main session.
pub const POINT: &str = "x'00000000010100000000000000000000000000000000000000'";

/// How many indexes a table has by now, without unique ones.
const INDEXES: &str = "SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS WHERE NON_UNIQUE AND INDEX_NAME <> 'p' AND TABLE_SCHEMA = 'hortator_case' AND TABLE_NAME = ";

fn indexes(server: &Server, table: &str) -> String {
    server.rows_of_case(&format!("{INDEXES}'{table}'"))[0][0].clone()
}

#[test]
fn all_kinds_of_indexes_in_all_orders() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let tables = [
        "KEY a (a), UNIQUE KEY u (a, b), KEY b (b DESC, a), KEY c (c(3)) COMMENT 'it''s \\\\ a `key`, (x)', KEY d (d) USING BTREE",
        "KEY a (a) IGNORED, FULLTEXT KEY f (c), KEY b (b), FULLTEXT KEY g (c, d)",
        "KEY a (a), SPATIAL KEY s (g), KEY b (b), KEY `we``ird, name` (c)",
        "n INT AUTO_INCREMENT, KEY a (a), KEY n (n, a), KEY b (b)",
        "KEY a (a), KEY fk (b), KEY b2 (b, a), KEY c (c), CONSTRAINT x_NUMBER FOREIGN KEY (b) REFERENCES parent (code)",
        "self INT, KEY a (a), KEY b (b), CONSTRAINT y_NUMBER FOREIGN KEY (self) REFERENCES tNUMBER (a)",
        "e INT AS (a + 1) VIRTUAL, KEY e (e), KEY a (a)",
        "KEY a (a), KEY same (a), KEY c (c, d) KEY_BLOCK_SIZE=8",
    ];
    let mut text = "SET foreign_key_checks = 0;\nCREATE TABLE early (id INT, p INT, FOREIGN KEY (p) REFERENCES parent (x));\n\
                    CREATE TABLE parent (id INT PRIMARY KEY, code INT, x INT, y INT, KEY y0 (y), KEY code (code), KEY x (x), KEY y (y));\n\
                    INSERT INTO parent VALUES (1, 1, 1, 1), (2, 2, 2, 2);\nSET foreign_key_checks = 1;\n"
        .to_owned();
    for (number, keys) in tables.iter().enumerate() {
        text += &format!(
            "CREATE TABLE t{number} (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), d TEXT, g POINT NOT NULL, {}) ENGINE=InnoDB;\n",
            keys.replace("NUMBER", &number.to_string())
                .replace("KEY d (d)", "KEY d (d(10))")
                .replace("(c, d) KEY", "(c, d(7)) KEY"),
        );
        for row in 0..6 {
            text += &format!(
                "INSERT INTO t{number} (id, a, b, c, d, g) VALUES ({row}, {row}, {}, 'c{row}', 'd{row}', {POINT});\n",
                row % 2 + 1,
            );
        }
        text += "UNLOCK TABLES;\n";
    }
    text += "CREATE TABLE late (id INT PRIMARY KEY, y INT, FOREIGN KEY (y) REFERENCES parent (y));\nINSERT INTO late VALUES (1, 1);\n";
    let contenders = &[Contender::DeferredIndexes, Contender::OneThread];
    let terms = Terms { contenders, force: false, row_times: true, is_stricter: false, ahead: &[] };
    let found = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
    assert_same(&found.differences);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    // Some are built later, or all of this would hold by itself.
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    pair.hortator.reset();
    let outcome = run(load_into(&pair.hortator, &[ALWAYS, dump.to_str().unwrap()]));
    let told = [
        "hortator_case.t0: a, b, c, d in ",
        "hortator_case.t1: a, b, f, g in ",
        "hortator_case.t2: a, s, b, we`ird, name in ",
        "hortator_case.t3: b in ",
        "hortator_case.t4: c in ",
        "hortator_case.t5: built with each row: its non-unique keys, or keys behind them, are needed",
        "hortator_case.t6: built with each row: it has computed columns",
        "hortator_case.t7: a, same, c in ",
        "hortator_case.parent: y in ",
    ];
    assert_tells(&outcome, 0, &told);
}

#[test]
fn statements_that_need_an_index_have_it() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let begin = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\n\
                 CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what INT, KEY w (what)) ENGINE=InnoDB;\n\
                 INSERT INTO t VALUES (1, 3), (2, 1);\nINSERT INTO log (what) VALUES (7);\n";
    let statements = [
        "SELECT * FROM t FORCE INDEX (k) WHERE a > 0 ORDER BY a;",
        "SHOW CREATE TABLE t;\nSHOW INDEX FROM log;",
        "CREATE VIEW v AS SELECT a FROM t FORCE INDEX (k);\nSELECT * FROM v;",
        "INSERT INTO log (what) SELECT a FROM t USE INDEX (k);",
        "INSERT INTO log (what) VALUES ((SELECT MAX(a) FROM t FORCE INDEX (k)));",
        "SET @x = (SELECT MAX(a) FROM t FORCE INDEX (k));\nSELECT @x;",
        "UPDATE t FORCE INDEX (k) SET a = a + 1 ORDER BY a;",
        "DELETE FROM t USING t FORCE INDEX (k) WHERE a = 1;",
        "CREATE TABLE child (a INT, FOREIGN KEY (a) REFERENCES t (a));\nINSERT INTO child VALUES (3);",
        "CREATE TABLE copy LIKE t;\nSHOW CREATE TABLE copy;",
        "CREATE TABLE chosen AS SELECT * FROM t FORCE INDEX (k);",
        "ALTER TABLE t RENAME KEY k TO l;",
        "ALTER TABLE t DROP KEY k, ADD KEY m (a, id);",
        "DROP INDEX k ON t;",
        "RENAME TABLE t TO u, log TO t;",
        "TRUNCATE TABLE t;",
        "DROP TABLE t;\nCREATE TABLE t (id INT, KEY k (id));\nINSERT INTO t VALUES (1);",
        "BEGIN;\nINSERT INTO t VALUES (9, 9);\nSELECT a FROM t FORCE INDEX (k);\nROLLBACK;",
        "CREATE PROCEDURE p() SELECT a FROM t FORCE INDEX (k);\nCALL p();",
        "CREATE TRIGGER r BEFORE INSERT ON log FOR EACH ROW SET NEW.what = (SELECT MIN(a) FROM t FORCE INDEX (k));\n\
         INSERT INTO log (what) VALUES (1), (2);",
        "EXECUTE IMMEDIATE 'SELECT a FROM t FORCE INDEX (k)';",
        "HANDLER t OPEN;\nHANDLER t READ k FIRST;\nHANDLER t CLOSE;",
        "INSERT INTO t VALUES (1, 1);",
        "REPLACE INTO t VALUES (1, 5);\nINSERT INTO t VALUES (2, 8) ON DUPLICATE KEY UPDATE a = 4;",
        "LOCK TABLES t WRITE;\nALTER TABLE t DISABLE KEYS;\nINSERT INTO t VALUES (7, 7);\nALTER TABLE t ENABLE KEYS;\nUNLOCK TABLES;",
        "CREATE TEMPORARY TABLE tmp (id INT, KEY k (id));\nINSERT INTO tmp VALUES (1);\nSELECT id FROM tmp FORCE INDEX (k);",
        "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', sql_quote_show_create = 0;\nINSERT INTO t VALUES (8, 8);",
        "INSERT INTO t VALUES (8, 8);\nINSERT INTO t VALUES (9, 9), (8, 1);\nINSERT INTO t VALUES (10, 1);",
        "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE();",
    ];
    let mut differing = Vec::new();
    for statement in statements {
        let text = format!("{begin}{statement}\nINSERT INTO t VALUES (100, 1);\n");
        let terms = Terms {
            contenders: &[Contender::DeferredIndexes],
            force: false,
            row_times: true,
            is_stricter: false,
            ahead: &[],
        };
        let found = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
        differing.extend(found.differences.into_iter().map(|difference| format!("{statement}\n  {difference}")));
    }
    assert_same(&differing);
}

#[test]
fn transactions_of_rows() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let rows = |table: &str, from: u32| -> String {
        (from..from + 30).map(|id| format!("INSERT INTO {table} VALUES ({id}, 'v{id}');\n")).collect()
    };
    let table =
        |name: &str| format!("CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(20), KEY k (v)) ENGINE=InnoDB;\n");
    let mut text = String::new();
    for (name, end) in [
        ("a", "COMMIT"),
        ("b", "ROLLBACK"),
        ("c", "UPDATE c SET v = 'x';\nCOMMIT"),
        ("d", "SELECT v FROM d FORCE INDEX (k) LIMIT 1;\nROLLBACK"),
    ] {
        text += &format!("{}BEGIN;\n{}{end};\n{}", table(name), rows(name, 0), rows(name, 100));
    }
    text += &format!(
        "{}SET autocommit = 0;\n{}COMMIT;\nUNLOCK TABLES;\n{}COMMIT;\n",
        table("e"),
        rows("e", 0),
        rows("e", 50)
    );
    text += &format!("{}{}", table("f"), rows("f", 0));
    let terms = Terms {
        contenders: &[Contender::DeferredIndexes],
        force: false,
        row_times: true,
        is_stricter: false,
        ahead: &[],
    };
    assert_same(&compare(&pair, Dump::Bytes(text.as_bytes()), terms).differences);
}

#[test]
fn a_row_that_fails_leaves_all_indexes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\nINSERT INTO t VALUES (1, 1);\n\
                INSERT INTO t VALUES (2, 1), (1, 1);\nINSERT INTO t VALUES (3, 1);\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let outcome = run(load_into(server, &[ALWAYS, "--chunk-bytes", "1", dump.to_str().unwrap()]));
    assert_tells(&outcome, 1, &["ERROR 1062", "at line 3", "indexes: 1 built after the rows, in 1 table(s)"]);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id) FROM t FORCE INDEX (k)")[0][0], "1");
    // The load goes on with the rest.
    let outcome = run(load_into(server, &["--status"]));
    assert!(!outcome.messages.contains("missing"), "{}", outcome.messages);
}

#[test]
fn what_is_not_deferred_is_told() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\nINSERT INTO t VALUES (1, 1);\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let file = dump.to_str().unwrap();
    for (options, told) in [
        (&[ALWAYS, "--plan"][..], "hortator_case.t: after the rows"),
        (&["--defer-indexes=auto", "--plan"], "hortator_case.t: with each row: it gets less than 4 MiB of rows"),
        (&[ALWAYS, "--plan", "--no-checkpoint"], "indexes: built with each row: the load writes no checkpoints"),
        (&[ALWAYS, "--plan", "--force"], "indexes: built with each row: a forced load (--force)"),
    ] {
        let outcome = run(load_into(server, &[options, &[file]].concat()));
        let plan = String::from_utf8_lossy(&outcome.rows).into_owned();
        assert!(plan.contains(told), "{options:?}: {plan}");
    }
    for (options, told) in [
        (&[ALWAYS, "--no-checkpoint"][..], "indexes: built with each row: the load writes no checkpoints"),
        (&[ALWAYS, "--force"], "indexes: built with each row: a forced load (--force)"),
        (&["--defer-indexes=auto"], "indexes: 0 built after the rows, in 0 table(s)"),
    ] {
        server.reset();
        assert_tells(&run(load_into(server, &[options, &[file]].concat())), 0, &[told]);
        assert_eq!(indexes(server, "t"), "1");
    }
    server.reset();
    let json = run(load_into(server, &[ALWAYS, "--json", file]));
    let summary: serde_json::Value = serde_json::from_slice(&json.rows).unwrap();
    assert_eq!(summary["deferred_indexes"]["built"][0]["keys"], serde_json::json!(["k"]));
}

/// With `auto`, the size of a table's rows decides.
#[test]
fn auto_defers_large_tables() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (running, mut input) = {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = load_into(server, &["--defer-indexes=auto"]);
        command.stdin(reader);
        (Running::start(command), writer)
    };
    for table in ["small", "large"] {
        let create =
            format!("CREATE TABLE {table} (id INT PRIMARY KEY, v VARCHAR(900), KEY k (v(20))) ENGINE=InnoDB;\n");
        input.write_all(create.as_bytes()).unwrap();
        for statement in 0..if table == "small" { 2 } else { 100 } {
            let rows: Vec<String> =
                (0..100).map(|row| format!("({}, '{row}{}')", statement * 100 + row, "x".repeat(800))).collect();
            input.write_all(format!("INSERT INTO {table} VALUES {};\n", rows.join(",")).as_bytes()).unwrap();
        }
    }
    drop(input);
    let outcome = running.finish_within(LIMIT);
    assert_tells(&outcome, 0, &["indexes: 1 built after the rows, in 1 table(s)", "hortator_case.large: k in "]);
    for table in ["small", "large"] {
        assert_eq!(indexes(server, table), "1");
    }
}
