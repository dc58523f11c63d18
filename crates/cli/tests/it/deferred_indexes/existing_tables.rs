//! Tables that were there before the load: the indexes of an empty one are built after its rows, those of others stay.

use rustix::process::Signal;

use super::ended::{HELD_TABLE, Held, held_rows, kill, shown, start_and_hold};
use super::{ALWAYS, LIMIT, indexes};
use crate::compare::{Terms, assert_same, compare};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Contender, Dump, Outcome, Running, run};
use crate::servers::{Server, pair};
use crate::target;

/// Behind the row that may have to wait.
const MORE: &str = "INSERT INTO t VALUES (9001, 1, 'more', NULL);\n";
const DEFINITION: &str = "SHOW CREATE TABLE hortator_case.t";

fn create(server: &Server, statements: &[&str]) -> String {
    server.reset();
    let mut connection = server.connect();
    connection.execute(b"USE hortator_case").unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap();
    }
    shown(server, DEFINITION)
}

fn rows(server: &Server) -> String {
    server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t")[0][0].clone()
}

#[test]
fn a_csv_file_into_an_empty_table() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let table = "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(20), c VARCHAR(20), UNIQUE KEY u (a), KEY b (b DESC), \
                 FULLTEXT KEY f (c), KEY ab (a, b) COMMENT 'x') ENGINE=InnoDB AUTO_INCREMENT=100";
    let (_folder, file) = dump_file("rows.csv", b"1,1,b,c\n2,2,bb,cc\n");
    let file = file.to_str().unwrap();
    let load = |options: &[&str]| run(load_into(server, &[options, &["--table", "t", file]].concat()));
    let before = create(server, &[table]);
    let plan = load(&[ALWAYS, "--plan"]);
    let plan = String::from_utf8_lossy(&plan.rows).into_owned();
    assert!(plan.contains("hortator_case.t: after the rows"), "{plan}");
    assert_tells(&load(&[ALWAYS]), 0, &["2 built after the rows, in 1 table(s)", "hortator_case.t: b, ab in "]);
    assert_eq!((shown(server, DEFINITION), rows(server)), (before.clone(), "1,2".to_owned()));

    // Rows are there already.
    let (_folder, file) = dump_file("more.csv", b"3,3,b,c\n4,4,bb,cc\n");
    let file = file.to_str().unwrap();
    let more = |options: &[&str]| run(load_into(server, &[options, &["--table", "t", file]].concat()));
    let plan = more(&[ALWAYS, "--plan"]);
    let plan = String::from_utf8_lossy(&plan.rows).into_owned();
    assert!(plan.contains("hortator_case.t: with each row: it holds rows, or"), "{plan}");
    let told =
        ["indexes: 0 built after the rows, in 0 table(s)", "hortator_case.t: built with each row: it holds rows, or"];
    assert_tells(&more(&[ALWAYS]), 0, &told);
    assert_eq!((shown(server, DEFINITION), rows(server)), (before, "1,2,3,4".to_owned()));
}

/// A dump without definitions, between whose rows stand statements that need indexes, or are of the same table.
#[test]
fn a_dump_of_rows_only() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let text = b"CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB;\n\
                 CREATE TABLE filled (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB;\n\
                 CREATE TABLE fired (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB;\n\
                 CREATE TABLE log (id INT, KEY id (id)) ENGINE=InnoDB;\n\
                 CREATE TRIGGER fires AFTER INSERT ON fired FOR EACH ROW INSERT INTO log VALUES (NEW.id);\n\
                 CREATE TABLE myisam (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=MyISAM;\n\
                 CREATE VIEW v AS SELECT * FROM t FORCE INDEX (a);\n\
                 INSERT INTO filled VALUES (1, 1);\n";
    let rows = b"INSERT INTO t VALUES (1, 1), (2, 2);\nINSERT INTO filled VALUES (2, 2);\nINSERT INTO fired VALUES (1, 1);\n\
                 INSERT INTO log VALUES (7);\nINSERT INTO myisam VALUES (1, 1);\nINSERT INTO t VALUES (3, 3);\n\
                 INSERT INTO log SELECT id FROM v WHERE a > 1;\nINSERT INTO t VALUES (4, 4);\nTRUNCATE t;\n\
                 INSERT INTO t VALUES (5, 5);\nDROP TABLE filled;\n\
                 CREATE TABLE filled (id INT PRIMARY KEY, b INT, KEY b (b)) ENGINE=InnoDB;\nINSERT INTO filled VALUES (1, 1);\n\
                 START TRANSACTION;\nUPDATE t SET a = 6;\nINSERT INTO t VALUES (8, 8);\nCOMMIT;\n";
    for server in [&pair.client, &pair.hortator] {
        server.reset();
        let outcome = crate::programs::load(Contender::Client, server, Dump::Bytes(text), false);
        assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    }
    let client = crate::programs::load(Contender::Client, &pair.client, Dump::Bytes(rows), false);
    assert_eq!(client.status, Some(0), "{}", client.messages);
    let (_folder, file) = dump_file("rows.sql", rows);
    let outcome = run(load_into(&pair.hortator, &[ALWAYS, "--chunk-bytes", "1", file.to_str().unwrap()]));
    assert_tells(&outcome, 0, &["hortator_case.t: a in ", "hortator_case.filled: b in "]);
    let (theirs, ours) = (pair.client.state(false), pair.hortator.state(false));
    let differences = theirs.iter().flat_map(|(name, state)| state.differences(&ours[name])).collect::<Vec<_>>();
    assert_same(&differences);
}

/// What may go wrong leaves all indexes.
#[test]
fn faults_leave_all_indexes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let table = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY a (a), KEY b (a, id)) ENGINE=InnoDB";
    let before = create(server, &[table]);
    let load = |options: &[&str], text: &str| -> Outcome {
        let (_folder, file) = dump_file("rows.csv", text.as_bytes());
        run(load_into(server, &[options, &["--table", "t", file.to_str().unwrap()]].concat()))
    };
    let outcome = load(&[ALWAYS, "--chunk-bytes", "1"], "1,1\n2,2\n2,3\n4,4\n");
    assert_tells(&outcome, 1, &["ERROR 1062", "at line 3", "2 built after the rows, in 1 table(s)"]);
    assert_eq!((shown(server, DEFINITION), rows(server)), (before.clone(), "1,2".to_owned()));

    // An account that may not change the table, and one that may not read it.
    let mut root = server.connect();
    for (rights, told) in [("SELECT, INSERT", "the server does not drop them: "), ("INSERT", "it holds rows, or")] {
        assert_eq!(create(server, &[table]), before);
        for statement in [
            "CREATE OR REPLACE USER clerk@localhost",
            "GRANT ALL ON hortator.* TO clerk@localhost",
            &format!("GRANT {rights} ON hortator_case.* TO clerk@localhost"),
        ] {
            root.execute(statement.as_bytes()).unwrap();
        }
        let outcome = load(&["-u", "clerk", ALWAYS], "1,1\n2,2\n");
        assert_tells(&outcome, 0, &["indexes: 0 built after the rows", told]);
        assert_eq!((shown(server, DEFINITION), rows(server)), (before.clone(), "1,2".to_owned()));
    }
    root.execute(b"DROP USER clerk@localhost").unwrap();

    // Somebody uses the table: rows go in all the same.
    assert_eq!(create(server, &[table]), before);
    let mut user = server.connect();
    user.execute(b"START TRANSACTION").unwrap();
    user.fetch(b"SELECT * FROM hortator_case.t").unwrap();
    let outcome = load(&[ALWAYS], "1,1\n2,2\n");
    assert_tells(
        &outcome,
        0,
        &["indexes: 0 built after the rows", "the server does not drop them: ", "Lock wait timeout"],
    );
    assert_eq!((shown(server, DEFINITION), rows(server)), (before, "1,2".to_owned()));
}

/// Definitions that were written by the settings of another session mean what they meant.
#[test]
fn definitions_of_other_sessions() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, file) = dump_file("rows.csv", b"1,1\n");
    let load = || run(load_into(server, &[ALWAYS, "--table", "t", "--columns", "id,a", file.to_str().unwrap()]));
    for (setting, column) in [
        ("sql_mode = 'NO_BACKSLASH_ESCAPES'", "VARCHAR(20) DEFAULT (concat('x\ny', 'z'))"),
        ("sql_mode = 'NO_BACKSLASH_ESCAPES'", "VARCHAR(20) DEFAULT (concat('x\\ny', 'z'))"),
        ("sql_mode = 'NO_BACKSLASH_ESCAPES'", "VARCHAR(20) CHECK (d <> 'x\\ny')"),
        ("sql_mode = 'PIPES_AS_CONCAT'", "VARCHAR(20) DEFAULT ('x' || 'y') CHECK (d <> 'x' || 'z')"),
        ("sql_mode = 'ALLOW_INVALID_DATES'", "DATE DEFAULT (cast('2020-02-31' as date))"),
        ("sql_mode = 'TIME_ROUND_FRACTIONAL'", "TIME DEFAULT (cast('10:00:00.9' as time))"),
        ("time_zone = '+05:00'", "BIGINT DEFAULT (unix_timestamp('2020-01-01 00:00:00'))"),
        ("div_precision_increment = 10", "DECIMAL(20,10) DEFAULT (1/3)"),
        ("collation_connection = utf8mb4_bin", "INT DEFAULT ('a' = 'A')"),
        ("sql_mode = ''", "VARCHAR(20) DEFAULT (concat('x\ty', _latin1'z'))"),
    ] {
        let table =
            |name| format!("CREATE TABLE {name} (id INT PRIMARY KEY, a INT, d {column}, KEY a (a)) ENGINE=InnoDB");
        let set = format!("SET {setting}");
        let before = create(server, &[&set, &table("t"), &table("like_it"), "INSERT INTO like_it (id) VALUES (1)"]);
        assert_tells(&load(), 0, &["loaded 1 rows"]);
        assert_eq!(shown(server, DEFINITION), before, "{setting}");
        assert_eq!(server.rows_of_case("SELECT d FROM t"), server.rows_of_case("SELECT d FROM like_it"), "{setting}");
    }
    // Nothing tells the list of words that a FULLTEXT index was made with.
    let before = create(
        server,
        &[
            "SET innodb_ft_enable_stopword = 0",
            "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, KEY k (a(9)), FULLTEXT KEY f (a)) ENGINE=InnoDB",
        ],
    );
    let (_folder, text) = dump_file("rows.csv", b"1,the house about\n");
    let outcome = run(load_into(server, &[ALWAYS, "--table", "t", text.to_str().unwrap()]));
    assert_tells(&outcome, 0, &["indexes: 1 built after the rows", "hortator_case.t: k in "]);
    assert_eq!(shown(server, DEFINITION), before);
    assert_eq!(server.rows_of_case("SELECT id FROM t WHERE MATCH (a) AGAINST ('about')"), [["1"]]);
}

/// Two loads fill one table at the same time, each of which may have found it empty.
#[test]
fn two_loads_at_once() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let table = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY a (a), KEY b (a, id)) ENGINE=InnoDB";
    let rows_from = |first: i32| (first..first + 3000).map(|id| format!("{id},{id}\n")).collect::<String>();
    let (_folder, low) = dump_file("low.csv", rows_from(0).as_bytes());
    let (_other, high) = dump_file("high.csv", rows_from(3000).as_bytes());
    for _ in 0..5 {
        let before = create(server, &[table]);
        let start = |file: &std::path::Path| {
            Running::start(load_into(
                server,
                &[ALWAYS, "--chunk-bytes", "3000", "--table", "t", file.to_str().unwrap()],
            ))
        };
        for running in [start(&low), start(&high)] {
            assert_tells(&running.finish_within(LIMIT), 0, &["loaded 3,000 rows"]);
        }
        assert_eq!(shown(server, DEFINITION), before);
        assert_eq!(server.rows_of_case("SELECT COUNT(*), SUM(a) FROM t FORCE INDEX (a)"), [["6000", "17997000"]]);
    }
}

/// A load was killed and not resumed, and another fills the table: it says what is missing.
#[test]
fn indexes_that_another_load_has_left_missing() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let held = Held::new(server);
    let mut connection = server.connect();
    for statement in ["USE hortator_case", HELD_TABLE] {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let before = shown(server, DEFINITION);
    let (_folder, file) = dump_file("rows.sql", held_rows(MORE).as_bytes());
    kill(start_and_hold(server, &[file.to_str().unwrap()]));
    drop(held);
    connection.execute(b"TRUNCATE t").unwrap();
    let (_other, csv) = dump_file("rows.csv", b"1,1,v,\\N\n");
    let outcome = run(load_into(server, &[ALWAYS, "--table", "t", csv.to_str().unwrap()]));
    assert_tells(&outcome, 0, &["loaded 1 rows", "has dropped its indexes and has not built them: see --status"]);
    let discarded = run(load_into(server, &["--discard-checkpoint"]));
    assert_eq!(discarded.status, Some(0), "{}", discarded.messages);
    assert_eq!((shown(server, DEFINITION), rows(server)), (before, "1".to_owned()));
}

/// A load that is killed, or interrupted, while the indexes are missing.
#[test]
fn a_killed_load_is_resumed() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, file) = dump_file("rows.sql", held_rows(MORE).as_bytes());
    let arguments = [file.to_str().unwrap()];
    for is_killed in [true, false] {
        server.reset();
        let held = Held::new(server);
        let before = {
            let mut connection = server.connect();
            connection.execute(b"USE hortator_case").unwrap();
            connection.execute(HELD_TABLE.as_bytes()).unwrap();
            shown(server, DEFINITION)
        };
        let running = start_and_hold(server, &arguments);
        if is_killed {
            kill(running);
            drop(held);
            assert_eq!(indexes(server, "t"), "0");
            let status = run(load_into(server, &["--status"]));
            let told = String::from_utf8_lossy(&status.rows).into_owned();
            let expected = "indexes are missing: hortator_case.t (dropped at ";
            assert!(told.contains(expected) && told.contains("ADD KEY `v` (`v`), ADD KEY `a` (`a`,`v`)"), "{told}");
        } else {
            signal(&running, Signal::INT);
            let outcome = running.finish_within(LIMIT);
            drop(held);
            assert_tells(&outcome, 130, &["building the deferred indexes of 1 table(s)", "hortator_case.t: v, a in "]);
            assert_eq!(indexes(server, "t"), "2");
        }
        let resumed = run(load_into(server, &[&["--resume"][..], &arguments].concat()));
        assert_tells(&resumed, 0, &["loaded 2,002 rows"]);
        assert_eq!(shown(server, DEFINITION), before);
        assert_eq!(server.rows_of_case("SELECT COUNT(*), COUNT(DISTINCT v) FROM t FORCE INDEX (v)"), [["2002", "52"]]);
    }
}

/// With the client beside it, each form of rows into tables that are there.
#[test]
fn like_the_client() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let text = b"CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB;\nINSERT INTO t VALUES (1, 1);\nDELETE FROM t;\n\
                 INSERT INTO t VALUES (1, 1), (2, 1);\nREPLACE INTO t VALUES (2, 3);\nINSERT IGNORE INTO t VALUES (2, 4), (3, 4);\n\
                 SELECT id FROM t FORCE INDEX (a) WHERE a > 1 ORDER BY id;\nALTER TABLE t ADD KEY b (id, a);\n\
                 INSERT INTO t VALUES (4, 4);\nDROP INDEX a ON t;\nINSERT INTO t VALUES (5, 5);\n";
    let terms = Terms {
        contenders: &[Contender::DeferredIndexes],
        force: false,
        row_times: false,
        is_stricter: false,
        ahead: &[],
    };
    assert_same(&compare(&pair, Dump::Bytes(text), terms).differences);
}
