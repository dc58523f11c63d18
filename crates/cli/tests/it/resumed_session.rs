//! Loads that fail, are mended and resumed behind statements that leave something in the dump's session or on the server.
//!
//! A resumed load has a new session. It must end as the client's load of the whole does, or stop and say what is missing.

use crate::compare::assert_same;
use crate::errors::{dump_file, load_into};
use crate::programs::{Contender, Dump, Outcome, load, run};
use crate::servers::{Pair, Server, pair};
use crate::target;

/// The statement that fails until its table is there.
const FAILS_HERE: &str = "INSERT INTO missing VALUES (1)";

/// Loads `before` and fails, makes the missing table, and resumes with `behind`.
fn resumed(server: &Server, before: &str, behind: &str, delimiter: &str) -> Outcome {
    let text = format!("{before}{FAILS_HERE}{delimiter}\n{behind}");
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    server.reset();
    let failed = run(load_into(server, &[file]));
    assert_eq!(failed.status, Some(1), "{before}: {}", failed.messages);
    assert!(failed.messages.contains("missing"), "{before}: {}", failed.messages);
    server.connect().execute(b"CREATE TABLE hortator_case.missing (id INT)").unwrap();
    run(load_into(server, &["--resume", file]))
}

/// What differs from the client's load of the whole; nothing where the resumed load stops and says that its session is gone.
fn differences(pair: &Pair, what: &str, before: &str, behind: &str, delimiter: &str) -> Vec<String> {
    let outcome = resumed(&pair.hortator, before, behind, delimiter);
    if outcome.status == Some(1) && outcome.messages.contains("session") {
        return Vec::new();
    }
    let mut found = Vec::new();
    if outcome.status != Some(0) {
        found.push(format!("status {:?}: {}", outcome.status, outcome.messages));
    }
    pair.client.reset();
    pair.client.connect().execute(b"CREATE TABLE hortator_case.missing (id INT)").unwrap();
    let whole = format!("{before}{FAILS_HERE}{delimiter}\n{behind}");
    let theirs = load(Contender::Client, &pair.client, Dump::Bytes(whole.as_bytes()), false);
    assert_eq!(theirs.status, Some(0), "{what}: {}", theirs.messages);
    let (theirs, ours) = (pair.client.state(false), pair.hortator.state(false));
    for (name, state) in &theirs {
        found.extend(ours.get(name).map_or(vec!["no schema".to_owned()], |ours| state.differences(ours)));
    }
    found.into_iter().map(|found| format!("== {what}: {found}")).collect()
}

/// Name, what stands before the failure, what stands behind it; all under the delimiter `//`.
const EFFECTS: &[(&str, &str, &str)] = &[
    (
        "a user variable set by a function of a SELECT",
        "CREATE TABLE t (id INT)//\nCREATE FUNCTION f() RETURNS INT BEGIN SET @n = 7; RETURN 1; END//\nSELECT f()//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by a function of an INSERT",
        "CREATE TABLE t (id INT)//\nCREATE FUNCTION f() RETURNS INT BEGIN SET @n = 7; RETURN 1; END//\nINSERT INTO t VALUES (f())//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by a trigger",
        "CREATE TABLE t (id INT)//\nCREATE TABLE u (id INT)//\nCREATE TRIGGER tr AFTER INSERT ON u FOR EACH ROW SET @n = NEW.id//\n\
         INSERT INTO u VALUES (7)//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by CREATE TABLE … SELECT",
        "CREATE TABLE t (id INT)//\nCREATE TABLE u SELECT @n := 7 AS id//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by SET STATEMENT",
        "CREATE TABLE t (id INT)//\nSET STATEMENT max_statement_time = 60 FOR SELECT 7 INTO @n//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by a view's function",
        "CREATE TABLE t (id INT)//\nCREATE FUNCTION f() RETURNS INT BEGIN SET @n = 7; RETURN 1; END//\nCREATE VIEW v AS SELECT f() AS id//\n\
         INSERT INTO t SELECT id FROM v//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by a block",
        "CREATE TABLE t (id INT)//\nBEGIN NOT ATOMIC SET @n = 7; END//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "a user variable set by DO and by a default",
        "CREATE TABLE t (id INT)//\nCREATE TABLE u (id INT, v INT DEFAULT (@m := 9))//\nDO @n := 7//\nINSERT INTO u (id) VALUES (1)//\n",
        "INSERT INTO t VALUES (@n), (@m)//\n",
    ),
    (
        "a session variable set by a function",
        "CREATE FUNCTION f() RETURNS INT BEGIN SET default_storage_engine = MyISAM; RETURN 1; END//\nSELECT f()//\n",
        "CREATE TABLE t (id INT)//\nINSERT INTO t VALUES (1)//\n",
    ),
    (
        "a session variable set by a block",
        "BEGIN NOT ATOMIC SET default_storage_engine = MyISAM; END//\n",
        "CREATE TABLE t (id INT)//\nINSERT INTO t VALUES (1)//\n",
    ),
    (
        "a temporary table of a function",
        "CREATE TABLE t (id INT)//\nCREATE FUNCTION f() RETURNS INT BEGIN CREATE TEMPORARY TABLE t (id INT); RETURN 1; END//\nSELECT f()//\n",
        "INSERT INTO t VALUES (1)//\n",
    ),
    (
        "a temporary table of a trigger",
        "CREATE TABLE t (id INT)//\nCREATE TABLE u (id INT)//\nCREATE TRIGGER tr AFTER INSERT ON u FOR EACH ROW CREATE TEMPORARY TABLE t (id INT)//\n\
         INSERT INTO u VALUES (7)//\n",
        "INSERT INTO t VALUES (1)//\n",
    ),
    (
        "a temporary table of a block",
        "CREATE TABLE t (id INT)//\nBEGIN NOT ATOMIC CREATE TEMPORARY TABLE t (id INT); END//\n",
        "INSERT INTO t VALUES (1)//\n",
    ),
    (
        "a number that SET draws from a sequence",
        "CREATE TABLE t (id INT)//\nCREATE SEQUENCE s//\nSET @n = NEXT VALUE FOR s//\nINSERT INTO t VALUES (@n)//\n",
        "INSERT INTO t VALUES (@n), (NEXT VALUE FOR s)//\n",
    ),
    (
        "numbers that SET draws from a sequence in other words",
        "CREATE TABLE t (id INT)//\nCREATE SEQUENCE s//\nSET @n = NEXTVAL(s), @m = (SELECT NEXT VALUE FOR s)//\nINSERT INTO t VALUES (@n)//\n",
        "INSERT INTO t VALUES (@n), (@m), (NEXT VALUE FOR s)//\n",
    ),
    (
        "what SET reads of rows that change",
        "CREATE TABLE t (id INT)//\nINSERT INTO t VALUES (1), (2)//\nSET @n = (SELECT COUNT(*) FROM t)//\nINSERT INTO t VALUES (3)//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "what SET reads of a function that writes",
        "CREATE TABLE t (id INT)//\nCREATE FUNCTION f() RETURNS INT BEGIN INSERT INTO t VALUES (9); RETURN 4; END//\nSET @n = f()//\n",
        "INSERT INTO t VALUES (@n)//\n",
    ),
    (
        "what SET reads of the statement before",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY)//\nINSERT INTO t VALUES (NULL), (NULL)//\nSET @n = LAST_INSERT_ID(), @m = @@identity//\n\
         INSERT INTO t VALUES (77)//\nINSERT INTO t VALUES (NULL)//\n",
        "INSERT INTO t VALUES (@n + 100), (@m + 200)//\n",
    ),
    (
        "a random number in a variable",
        "CREATE TABLE t (id DOUBLE)//\nSET @n = RAND(), @m = UUID_SHORT()//\nINSERT INTO t VALUES (@n), (@m)//\n",
        "DELETE FROM t WHERE id = @n OR id = @m//\n",
    ),
];

#[test]
fn effects_on_a_session_that_is_gone() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let mut found = Vec::new();
    for (what, before, behind) in EFFECTS {
        found.extend(differences(&pair, what, &format!("DELIMITER //\n{before}"), behind, "//"));
    }
    assert_same(&found);
}

/// Name, what stands before the failure, what stands behind it, as above: what is left lets the load go on.
const RESUMED: &[(&str, &str, &str)] = &[
    (
        "a trigger that goes with its table and is made again",
        "CREATE TABLE t (a INT)//\nCREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1//\n",
        "CREATE OR REPLACE TABLE t (a INT)//\nCREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1//\n",
    ),
    (
        "the same before anything of it is there",
        "CREATE TABLE t (a INT)//\n",
        "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1//\nCREATE OR REPLACE TABLE t (a INT)//\n\
         CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1//\n",
    ),
    (
        "nothing but definitions",
        "CREATE PROCEDURE p() SELECT 1//\nCREATE FUNCTION f() RETURNS INT RETURN 1//\n",
        "CREATE TABLE t2 (a INT)//\n",
    ),
    (
        "rights on a table that is dropped",
        "CREATE TABLE t (a INT PRIMARY KEY)//\nCREATE USER IF NOT EXISTS granted@localhost//\n\
         GRANT SELECT ON hortator_case.t TO granted@localhost//\nDROP TABLE IF EXISTS t//\n",
        "CREATE TABLE t2 (a INT)//\nDROP USER granted@localhost//\n",
    ),
    (
        "rights on a routine that is dropped",
        "CREATE OR REPLACE PROCEDURE p() SELECT 1//\nCREATE USER IF NOT EXISTS granted@localhost//\n\
         GRANT EXECUTE ON PROCEDURE hortator_case.p TO granted@localhost//\nDROP PROCEDURE IF EXISTS p//\n",
        "CREATE TABLE t2 (a INT)//\nDROP USER granted@localhost//\n",
    ),
    (
        "numbered rows behind a change in one transaction",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)//\nINSERT INTO t (a) VALUES (1)//\nBEGIN//\n\
         UPDATE t SET a = a + 1//\nINSERT INTO t (a) VALUES (3)//\n",
        "INSERT INTO t (a) VALUES (4)//\nCOMMIT//\nINSERT INTO t (a) VALUES (5)//\n",
    ),
    (
        "the same without autocommit",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)//\nINSERT INTO t (a) VALUES (1)//\nSET autocommit = 0//\n\
         DELETE FROM t WHERE a = 9//\nSELECT * FROM t//\nINSERT INTO t (a) VALUES (3)//\n",
        "COMMIT//\nINSERT INTO t (a) VALUES (5)//\nCOMMIT//\n",
    ),
    (
        "a table that cannot roll back, in a transaction that is",
        "CREATE TABLE l (id INT AUTO_INCREMENT PRIMARY KEY, v INT)//\nCREATE TABLE q (a INT) ENGINE=MyISAM//\nBEGIN//\n\
         INSERT INTO q VALUES (1)//\nINSERT INTO l (v) VALUES (7)//\n",
        "ROLLBACK//\n",
    ),
    (
        "the same behind rows of the transaction",
        "CREATE TABLE l (id INT AUTO_INCREMENT PRIMARY KEY, v INT)//\nCREATE TABLE q (a INT) ENGINE=MyISAM//\nBEGIN//\n\
         INSERT INTO l (v) VALUES (6)//\nINSERT INTO q VALUES (1)//\nINSERT INTO l (v) VALUES (7)//\n",
        "ROLLBACK//\n",
    ),
    (
        "a temporary table that was never there",
        "CREATE TABLE t (a INT)//\nDROP TEMPORARY TABLE IF EXISTS tt//\nINSERT INTO t VALUES (2)//\n",
        "INSERT INTO t VALUES (3)//\n",
    ),
];

#[test]
fn what_is_left_of_a_load_that_failed() {
    let pair = pair();
    let mut found = Vec::new();
    for (what, before, behind) in RESUMED {
        if target::mysql().is_some() && (before.contains("OR REPLACE") || behind.contains("OR REPLACE")) {
            continue;
        }
        let before = format!("DELIMITER //\n{before}");
        assert_eq!(resumed(&pair.hortator, &before, behind, "//").status, Some(0), "{what}");
        found.extend(differences(&pair, what, &before, behind, "//"));
    }
    assert_same(&found);
}

/// A dump that saves a global variable, changes it and restores it, as mysqldump's head and foot do.
#[test]
fn a_global_variable_that_is_saved_changed_and_restored() {
    let pair = pair();
    let server = &pair.hortator;
    let asked = "SELECT @@GLOBAL.innodb_stats_persistent_sample_pages, @@GLOBAL.default_week_format";
    let before = server.rows_of_case(asked);
    for delimiter in [";", "//"] {
        let outcome = resumed(
            server,
            &format!(
                "DELIMITER {delimiter}\nSET @pages = @@GLOBAL.innodb_stats_persistent_sample_pages{delimiter}\n\
                 SET GLOBAL innodb_stats_persistent_sample_pages = 77{delimiter}\n\
                 SET @format = @@GLOBAL.default_week_format, GLOBAL default_week_format = 5{delimiter}\n\
                 CREATE TABLE t (id INT){delimiter}\n"
            ),
            &format!(
                "SET GLOBAL innodb_stats_persistent_sample_pages = @pages{delimiter}\n\
                 SET GLOBAL default_week_format = @format{delimiter}\n"
            ),
            delimiter,
        );
        let found = server.rows_of_case(asked);
        let reset = b"SET GLOBAL innodb_stats_persistent_sample_pages = DEFAULT, GLOBAL default_week_format = DEFAULT";
        server.connect().execute(reset).unwrap();
        let has_stopped = outcome.status == Some(1) && outcome.messages.contains("session");
        assert!(has_stopped || outcome.status == Some(0), "{}", outcome.messages);
        assert!(has_stopped || found == before, "{found:?} instead of {before:?}: {}", outcome.messages);
    }
}
