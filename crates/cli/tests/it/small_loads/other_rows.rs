//! A killed small load whose tables somebody has filled since: the server has no trace of the load, and nothing is inserted
//! twice.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use super::{Case, KILLED_TRIES, LIMIT, assert_no_records, durable, signal};
use crate::errors::{assert_tells, load_into};
use crate::programs::run;
use crate::resumed_corners::end_statement;
use crate::servers::DATABASE;

/// Somebody who does not see the record of the killed load has loaded the same dump.
fn load_again(case: &Case<'_>, tables: &str) {
    let mut somebody = case.server.connect();
    somebody.select_db(DATABASE.as_bytes()).unwrap();
    somebody.execute(format!("DROP TABLE {tables}").as_bytes()).unwrap();
    assert_tells(&run(load_into(case.server, &["--no-local-journal", &case.file])), 0, &[]);
}

/// The record is refused as often as it is tried, and can be given up.
fn assert_refused(case: &Case<'_>, rows: &str) {
    for _ in 0..2 {
        let words = ["cannot resume load", "the new table", ".a, which has more rows now", "--discard-checkpoint="];
        assert_tells(&case.load(&["--resume"]), 1, &words);
        assert_no_records(case.server);
    }
    assert_eq!(case.server.rows_of_case("SELECT GROUP_CONCAT(n ORDER BY n) FROM a"), [[rows]]);
    assert_tells(&case.ask("--discard-checkpoint"), 0, &[]);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
    assert_tells(&case.load(&["--resume"]), 1, &["nothing to resume"]);
    assert_no_records(case.server);
}

#[test]
fn loaded_again_since() {
    let server = durable();
    for (first, second, tables) in [
        ("CREATE TABLE a (n INT);", "INSERT INTO a VALUES (1);", "a"),
        ("CREATE TABLE a (n INT);", "", "a"),
        ("CREATE TABLE IF NOT EXISTS a (n INT);", "", "a"),
        ("CREATE TABLE t (n INT);", "CREATE TABLE a LIKE t;", "a, t"),
        ("CREATE TABLE a (n INT) ENGINE=MyISAM;", "", "a"),
    ] {
        let case = Case::new(&server, &format!("{first}\n{second}\nDROP TABLE held;\nINSERT INTO a VALUES (2);\n"));
        case.killed();
        load_again(&case, tables);
        assert_refused(&case, if second.starts_with("INSERT") { "1,2" } else { "2" });
    }
}

/// The first rows had begun when the load was killed. They are not there, but those of somebody else are.
#[test]
fn loaded_again_since_the_first_rows_had_begun() {
    let server = durable();
    let text = "CREATE TABLE a (n INT);\nINSERT INTO a VALUES (1), (2);\nCREATE TABLE b LIKE a;\nINSERT INTO a (n) VALUES (3);\n";
    let case = Case::new(&server, text);
    for _ in 0..KILLED_TRIES {
        let (running, mut other) = case.committing();
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        case.end_commit();
        other.execute(b"BACKUP STAGE END").unwrap();
        server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query'");
        // Else it was over, or on record on the server.
        if case.is_local() && server.rows_of_case("SELECT COUNT(*) FROM a") == [["0"]] {
            load_again(&case, "a");
            assert_tells(&case.load(&["--resume"]), 1, &["more rows than these statements insert"]);
            assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM a"), [["3"]]);
            return;
        }
        case.files().into_iter().for_each(|file| fs::remove_file(file).unwrap());
    }
    panic!("the load was never killed in its first rows");
}

/// Rows that come from elsewhere in the load itself.
#[test]
fn rows_of_the_load_itself() {
    let server = durable();
    for (text, query) in [
        (
            "CREATE TABLE b (n INT);\nCREATE TABLE a (n INT);\n\
             CREATE TRIGGER t AFTER INSERT ON b FOR EACH ROW INSERT INTO a VALUES (NEW.n);\nINSERT INTO b VALUES (1);\n\
             DROP TABLE held;\nINSERT INTO a VALUES (2);\n",
            "SELECT GROUP_CONCAT(n ORDER BY n) FROM a",
        ),
        (
            "CREATE TABLE v (n INT);\nCREATE TABLE b (n INT);\nINSERT INTO b VALUES (1);\nDROP TABLE v;\n\
             CREATE VIEW v AS SELECT n FROM b;\nDROP TABLE held;\nINSERT INTO b VALUES (2);\n",
            "SELECT GROUP_CONCAT(n ORDER BY n) FROM v",
        ),
        (
            "CREATE TABLE b (n INT) ENGINE=MyISAM;\nINSERT INTO b VALUES (1);\nCREATE TABLE m (n INT) ENGINE=MERGE UNION=(b);\n\
             DROP TABLE held;\nINSERT INTO b VALUES (2);\n",
            "SELECT GROUP_CONCAT(n ORDER BY n) FROM m",
        ),
        (
            "CREATE TABLE a (n INT);\nINSERT INTO a VALUES (0), (3);\nDROP TABLE a;\nCREATE TABLE a (n INT);\n\
             INSERT INTO a VALUES (1);\nDROP TABLE held;\nINSERT INTO a VALUES (2);\n",
            "SELECT GROUP_CONCAT(n ORDER BY n) FROM a",
        ),
    ] {
        let case = Case::new(&server, text);
        server.reset();
        let (running, other) = case.waiting();
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        end_statement(&server, "DROP TABLE held%");
        drop(other);
        assert_tells(&case.load(&["--resume"]), 0, &[]);
        assert_eq!(server.rows_of_case(query), [["1,2"]], "{text}");
        assert_no_records(&server);
    }
}

#[test]
fn other_options() {
    let server = durable();
    let case = Case::new(&server, super::WAITING);
    case.killed();
    assert_tells(&case.load(&["--resume", "--binary-mode"]), 1, &["cannot resume load", "this run has --binary-mode"]);
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    super::assert_waited(&server);
}
