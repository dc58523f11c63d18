//! What becomes of a test's text, what counts as a difference, and which differences are explained.

use std::fs;

use super::compare::Kind;
use super::extract::{Purpose, extract};
use super::line_diff::hunks;
use super::table::explained;

/// The dump of a test with this text, beside which there is a file `inc.inc`.
fn dump(test: &str, include: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.test");
    fs::write(&path, test).unwrap();
    fs::write(folder.path().join("inc.inc"), include).unwrap();
    extract(folder.path(), &path, Purpose::Dump).map(|dump| String::from_utf8(dump.text()).unwrap())
}

#[test]
fn a_test_becomes_a_dump() {
    let cases = [
        // Statements, comments and commands.
        ("# a\n-- b\nSELECT 1;\n--echo x\nSELECT 2;", "SELECT 1;\nSELECT 2;\n"),
        ("--error 1062\nINSERT INTO t VALUES (1);\nerror 1,2; SELECT 3;", "INSERT INTO t VALUES (1);\nSELECT 3;\n"),
        ("--disable_warnings\ndrop table if exists t;\nenable_warnings;\n", "drop table if exists t;\n"),
        (
            "connect (a,localhost,\n root,,);\nconnection a;\nSELECT ';', \"\\\";\", `;`;\ndisconnect a;",
            "SELECT ';', \"\\\";\", `;`;\n",
        ),
        (
            "send SELECT 1;\nreap;\n--send\nSELECT 2;\n--reap\nquery_vertical SELECT 3;",
            "SELECT 1;\nSELECT 2;\nSELECT 3;\n",
        ),
        ("SELECT 1 # a\n, 2;", "SELECT 1 # a\n, 2;\n"),
        ("SELECT 1 # a\n;", "SELECT 1 # a\n;\n"),
        // Delimiters.
        ("delimiter |;\nBEGIN; END|\ndelimiter ;|\nSELECT 1;", "DELIMITER |\nBEGIN; END|\nDELIMITER ;\nSELECT 1;\n"),
        ("--delimiter //\nSELECT 1;//\n--delimiter ;\n", "DELIMITER //\nSELECT 1;//\n"),
        // Text for others.
        ("write_file x;\nSELECT 1;\nEOF\nSELECT 2;", "SELECT 2;\n"),
        ("--write_file x END\nSELECT 1;\nEOF\nEND\nSELECT 2;", "SELECT 2;\n"),
        ("perl;\nprint \"';\n{\";\nEOF\nSELECT 2;", "SELECT 2;\n"),
        ("--disable_parsing\nSELECT 1;\n--enable_parsing\nSELECT 2;", "SELECT 2;\n"),
        // Variables.
        (
            "let $a = x y;\neval SELECT '$a', '\\$a';\neval SELECT $b;\n--eval SELECT 1$a",
            "SELECT 'x y', '$a';\nSELECT 1x y;\n",
        ),
        ("let $a = `SELECT 1`;\neval SELECT $a;\nSELECT '$a';", "SELECT '$a';\n"),
        (
            "let $n = 2;\nwhile ($n)\n{\n  eval SELECT $n;\n  dec $n;\n}\nSELECT 'end';",
            "SELECT 2;\nSELECT 1;\nSELECT 'end';\n",
        ),
        (
            "if ($a)\n{\nSELECT 1;\n}\nif (!$a) { SELECT 2; }\n--let $a = b\nif ($a == 'b') {\nSELECT 3;\n}",
            "SELECT 2;\nSELECT 3;\n",
        ),
        ("if (`SELECT 1`) {\nSELECT 2;\n}\nSELECT 1;", "SELECT 1;\n"),
        (
            "let $a = x\\$y;\n--eval CREATE PROCEDURE p() BEGIN SELECT 1; END\nSELECT 1;",
            "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nDELIMITER ;\nSELECT 1;\n",
        ),
        ("--eval SELECT ';';\nskip no;\nSELECT 2;", "SELECT ';';\nSELECT 2;\n"),
        // Files.
        ("source inc.inc;\n--source include/have_innodb.inc\nSELECT 1;", "SELECT 'inc';\nSELECT 1;\n"),
        ("SELECT 1;\nexit;\nSELECT 2;", "SELECT 1;\n"),
        // What is not for the dump's one connection.
        ("CALL mtr.add_suppression('x');\nKILL 5;\nSELECT 1;", "SELECT 1;\n"),
    ];
    for (test, expected) in cases {
        assert_eq!(dump(test, "SELECT 'inc';\n").as_deref(), Ok(expected), "{test}");
    }
}

#[test]
fn a_test_that_needs_another_setup_is_no_dump() {
    for test in [
        "source include/big_test.inc;\nSELECT 1;",
        "--source include/restart_mysqld.inc",
        "SHUTDOWN;",
        "# a",
        "if (1) {\nSELECT 1;",
    ] {
        assert!(dump(test, "").is_err(), "{test}");
    }
}

#[test]
fn a_written_dump_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sql");
    let text = "SELECT 1;\nDELIMITER |\nBEGIN; END|\nSELECT '\n-'|\nDELIMITER ;\nSELECT 2;\n";
    fs::write(&path, text).unwrap();
    let dump = super::extract::read(&path).unwrap();
    assert_eq!(String::from_utf8(dump.text()).unwrap(), text);
    let lines = dump.by_line();
    assert_eq!(
        (lines[&1], lines[&3], lines[&7]),
        (b"SELECT 1".as_slice(), b"BEGIN; END".as_slice(), b"SELECT 2".as_slice())
    );
}

#[test]
fn hunks_are_what_differs() {
    let found = |first: &str, second: &str| {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let hunks = hunks(&chars(first), &chars(second));
        hunks.iter().map(|hunk| format!("{:?} {:?}", hunk.first, hunk.second)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(found("abc", "abc"), "");
    assert_eq!(found("abc", "axc"), "1..2 1..2");
    assert_eq!(found("abc", "abxc"), "2..2 2..3");
    assert_eq!(found("abcde", "bcdf"), "0..1 0..0, 4..5 3..4");
    assert_eq!(found("", "a"), "0..0 0..1");
}

#[test]
fn explained_differences_are_read() {
    let page = "# A\n\n| Test | What | Contains | Reason |\n|-|-|-|-|\n| `main.a` | rows | `x \\| y` | it is so |\n| * | * | z | so |\n\nend";
    let rows = explained(page);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let difference = |text: &str| super::compare::Difference::example(Kind::Rows, text);
    assert!(rows[0].covers("main.a", &difference("a x | y")));
    assert!(!rows[0].covers("main.b", &difference("a x | y")));
    assert!(!rows[0].covers("main.a", &difference("x")));
    assert!(rows[1].covers("other.b", &difference("z")));
}
