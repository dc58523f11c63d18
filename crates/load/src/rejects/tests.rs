//! Files that are written, read again, cut off and changed; and statements that must be read as they were.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::entry::{Reading, statement_record};
use super::*;
use crate::lexer::{Charset, Dialect};
use crate::report::Failure;
use crate::session::SessionState;

const MARIADB: u32 = 101_100;

fn failure(line: u64) -> Failure {
    let (code, sqlstate) = (Some(1062), Some("23000".to_owned()));
    let message = "Duplicate entry '1'\nfor key 'PRIMARY'".to_owned();
    Failure { file: "dump.sql".to_owned(), line, byte: 7, statement: String::new(), code, sqlstate, message }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejected.sql");
    (folder, path)
}

/// Puts a statement into the file.
fn append(rejects: &Rejects, ordinal: u64, text: &str) -> Written {
    let failure = failure(ordinal);
    let rejected = Rejected {
        ordinal,
        text: text.as_bytes(),
        failure: &failure,
        session: &SessionState::default(),
        dialect: Dialect::mariadb(MARIADB),
        repeat: Repeat::AsWritten,
    };
    rejects.append(&[rejected]).unwrap()
}

fn open(path: &Path, is_resume: bool) -> Result<Rejects, RejectError> {
    let rejects = Rejects::open(path, is_resume, false, false)?;
    rejects.begin(7)?;
    Ok(rejects)
}

/// The statements of the file, without comments and blank lines.
fn statements(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("--")).map(str::to_owned).collect()
}

fn counts(rejects: &Rejects) -> (u64, u64) {
    let RejectSummary { statements, notes, .. } = rejects.summary();
    (statements, notes)
}

#[test]
fn a_new_file_is_private_and_an_old_one_is_not_overwritten() {
    let (_folder, path) = place();
    let rejects = open(&path, false).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(open(&path, false), Err(RejectError::InUse { .. })));
    append(&rejects, 1, "INSERT INTO t VALUES (1)");
    drop(rejects);
    let before = fs::read(&path).unwrap();
    assert!(matches!(open(&path, false), Err(RejectError::NotEmpty { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    let other = Rejects::open(&path, true, false, false).unwrap();
    assert!(matches!(other.begin(8), Err(RejectError::OtherLoad { found: 7, load_id: 8, .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let (folder, path) = place();
    assert!(matches!(open(folder.path(), false), Err(RejectError::NotRegular { .. })));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(open(&path, false), Err(RejectError::NotRegular { .. })));
    let missing = folder.path().join("nowhere/rejected.sql");
    assert!(matches!(open(&missing, false), Err(RejectError::Io { .. })));
    fs::write(folder.path().join("mine.sql"), "SELECT 1;\n").unwrap();
    assert!(matches!(open(&folder.path().join("mine.sql"), true), Err(RejectError::NotOurs { .. })));
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let rejects = open(Path::new("/dev/full"), false).unwrap();
    let failure = failure(1);
    let rejected = Rejected {
        ordinal: 1,
        text: b"INSERT INTO t VALUES (1)",
        failure: &failure,
        session: &SessionState::default(),
        dialect: Dialect::mariadb(MARIADB),
        repeat: Repeat::AsWritten,
    };
    let error = rejects.append(&[rejected]).unwrap_err().to_string();
    assert!(error.contains("/dev/full") && error.contains("No space left"), "{error}");
    assert_eq!(counts(&rejects), (0, 0));
}

#[test]
fn what_fails_again_stands_there_once() {
    let (_folder, path) = place();
    let rejects = open(&path, false).unwrap();
    let written = append(&rejects, 5, "INSERT INTO t VALUES (5)");
    // Its commit was refused, and it fails again; another does not.
    rejects.reopen(written);
    append(&rejects, 5, "INSERT INTO t VALUES (5)");
    let other = append(&rejects, 9, "INSERT INTO t VALUES (9)");
    rejects.reopen(other);
    assert_eq!(counts(&rejects), (2, 0));
    rejects.finish().unwrap();
    assert_eq!(counts(&rejects), (1, 0));
    assert_eq!(statements(&path), ["INSERT INTO t VALUES (5);"]);
}

#[test]
fn a_load_that_resumes_goes_on_with_the_file() {
    let (_folder, path) = place();
    let rejects = open(&path, false).unwrap();
    for ordinal in [3, 8, 12] {
        append(&rejects, ordinal, &format!("INSERT INTO t VALUES ({ordinal})"));
    }
    drop(rejects);
    let rejects = open(&path, true).unwrap();
    assert_eq!(counts(&rejects), (3, 0));
    // Passed over, failed again, and not failed this time.
    rejects.settle(3);
    append(&rejects, 8, "INSERT INTO t VALUES (8)");
    append(&rejects, 20, "INSERT INTO t VALUES (20)");
    rejects.finish().unwrap();
    let expected = ["INSERT INTO t VALUES (3);", "INSERT INTO t VALUES (8);", "INSERT INTO t VALUES (20);"];
    assert_eq!(statements(&path), expected);
    drop(rejects);
    let rejects = open(&path, true).unwrap();
    assert_eq!(counts(&rejects), (3, 0));
}

/// Wherever a crash cuts the file off, whole records stay, and it goes on behind them.
#[test]
fn a_file_that_is_cut_off_goes_on_behind_its_last_whole_record() {
    let (_folder, path) = place();
    let rejects = open(&path, false).unwrap();
    append(&rejects, 3, "INSERT INTO t VALUES (3)");
    append(&rejects, 4, "INSERT INTO t VALUES ('\n-- Statement 9 (3 bytes below): ')");
    drop(rejects);
    let whole = fs::read(&path).unwrap();
    let mut seen = BTreeSet::new();
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let rejects = open(&path, true).unwrap();
        let before = counts(&rejects).0;
        seen.insert(before);
        append(&rejects, 30, "INSERT INTO t VALUES (30)");
        drop(rejects);
        let rejects = open(&path, true).unwrap();
        assert_eq!(counts(&rejects), (before + 1, 0), "cut off at {length}");
        assert!(fs::read_to_string(&path).unwrap().ends_with("\nINSERT INTO t VALUES (30);\n"));
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 2]));
}

#[test]
fn what_the_dump_rolls_back_is_withdrawn() {
    let (_folder, path) = place();
    let rejects = open(&path, false).unwrap();
    append(&rejects, 1, "INSERT INTO t VALUES (1)");
    let written = append(&rejects, 2, &format!("INSERT INTO t VALUES ('{}')", "x".repeat(200_000)));
    append(&rejects, 3, "INSERT INTO t VALUES (3)");
    rejects.withdraw(written).unwrap();
    assert_eq!(statements(&path), ["INSERT INTO t VALUES (1);", "INSERT INTO t VALUES (3);"]);
    drop(rejects);
    assert_eq!(counts(&open(&path, true).unwrap()), (2, 0));
}

/// The record of a statement, without its header.
fn body(text: &[u8], dialect: Dialect, reading: Reading) -> (String, bool) {
    let failure = failure(1);
    let session = &SessionState::default();
    let rejected = Rejected { ordinal: 1, text, failure: &failure, session, dialect, repeat: Repeat::AsWritten };
    let (record, is_statement) = statement_record(&rejected, reading);
    let record = String::from_utf8_lossy(&record).into_owned();
    let (header, body) = record.split_once('\n').unwrap();
    assert!(header.starts_with(if is_statement { "-- Statement 1 (" } else { "-- Note only 1 (" }), "{header}");
    assert!(header.contains("ERROR 1062 (23000): Duplicate entry '1' for key"), "{header}");
    (body.to_owned(), is_statement)
}

#[test]
fn a_statement_is_written_so_that_it_is_read_as_it_was() {
    let dialect = Dialect::mariadb(MARIADB);
    let plain = |text: &str| body(text.as_bytes(), dialect, Reading::default());
    let cases = [
        ("INSERT INTO t VALUES ('a;b')", "INSERT INTO t VALUES ('a;b');\n"),
        (
            "CREATE PROCEDURE p() BEGIN DO 1; DO 2; END",
            "DELIMITER ;;\nCREATE PROCEDURE p() BEGIN DO 1; DO 2; END;;\nDELIMITER ;\n",
        ),
        (
            "CREATE PROCEDURE p() BEGIN DO ';;'; END",
            "DELIMITER $$\nCREATE PROCEDURE p() BEGIN DO ';;'; END$$\nDELIMITER ;\n",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(plain(text), (expected.to_owned(), true), "{text}");
    }
    // Its end would be in its comment.
    let comments = Reading { comments: true, binary_mode: false };
    let (written, is_statement) = body(b"INSERT INTO t VALUES (1) -- one", dialect, comments);
    assert!(is_statement && written.ends_with("-- one\n;\n"), "{written}");
    // An open comment takes in what comes behind it.
    let (written, is_statement) = body(b"INSERT INTO t VALUES (1) /* one", dialect, comments);
    assert!(!is_statement && written.contains("-- INSERT INTO t VALUES (1) /* one\n"), "{written}");
    // Only with --binary-mode are these bytes read as they are.
    for text in [&b"INSERT INTO t VALUES ('\r\n')"[..], b"INSERT INTO t VALUES ('\0')"] {
        assert!(body(text, dialect, Reading { comments: false, binary_mode: true }).1);
        assert!(!body(text, dialect, Reading::default()).1);
    }
    // The second byte of this character is a backslash.
    let sjis = Dialect { charset: Charset::Sjis, ..dialect };
    assert!(body(b"INSERT INTO t VALUES ('\x95\x5c')", sjis, Reading::default()).1);
    let no_backslash = Dialect { no_backslash_escapes: true, ..dialect };
    assert!(body(b"INSERT INTO t VALUES ('\\')", no_backslash, Reading::default()).1);
}

#[test]
fn rows_that_stayed_are_left_out() {
    let dialect = Dialect::mariadb(MARIADB);
    let rest = |text: &str, kept| {
        let offset = text.find("VALUES").unwrap() + 6;
        let rest = remaining_rows(text.as_bytes(), offset, &dialect, kept)?;
        Some(String::from_utf8(rest).unwrap())
    };
    let text = "INSERT INTO t (a) VALUES (1), ('(,)'), (ABS(-3)),(4)";
    assert_eq!(rest(text, 0).as_deref(), Some("INSERT INTO t (a) VALUES (1), ('(,)'), (ABS(-3)),(4)"));
    assert_eq!(rest(text, 1).as_deref(), Some("INSERT INTO t (a) VALUES ('(,)'), (ABS(-3)),(4)"));
    assert_eq!(rest(text, 2).as_deref(), Some("INSERT INTO t (a) VALUES (ABS(-3)),(4)"));
    assert_eq!(rest(text, 3).as_deref(), Some("INSERT INTO t (a) VALUES (4)"));
    assert_eq!(rest(text, 4), None);
    // Rows that exist are no error to these, so that the number tells nothing.
    assert_eq!(rest("REPLACE INTO t VALUES (1), (2)", 1), None);
    assert_eq!(rest("INSERT IGNORE INTO t VALUES (1), (2)", 1), None);
}

#[test]
fn what_reads_its_session_is_not_repeated() {
    let dialect = Dialect::mariadb(MARIADB);
    let functions = crate::analysis::FunctionSet::all();
    let facts = crate::analysis::SessionFacts { dialect, functions: &functions, known_head: None };
    let of = |text: &str, has_own_clock| {
        let info = crate::analysis::analyze(text.as_bytes(), &facts);
        repeat_of(text.as_bytes(), &info, &dialect, has_own_clock)
    };
    for text in [
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t (uuid, now) VALUES (1, 2)",
        "UPDATE t SET a = 1",
        "INSERT INTO t SELECT * FROM u",
        "CREATE TABLE t (a INT)",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @n = LAST_INSERT_ID()",
        "GRANT SELECT ON *.* TO u",
        "INSRT INTO t VALUES (1)",
    ] {
        assert_eq!(of(text, false), Repeat::AsWritten, "{text}");
    }
    for text in ["INSERT INTO t VALUES (NOW())", "UPDATE t SET a = CURRENT_TIMESTAMP", "CALL p(1)"] {
        assert!(matches!(of(text, false), Repeat::WithNote(_)), "{text}");
    }
    for text in [
        "INSERT INTO t VALUES (@x)",
        "INSERT INTO t VALUES (LAST_INSERT_ID())",
        "INSERT INTO t VALUES (@@last_insert_id)",
        "SET @x = 1",
        "SELECT 1",
        "SELECT * FROM t",
        "COMMIT",
        "EXECUTE s",
        "LOCK TABLES t WRITE",
        "CREATE TEMPORARY TABLE t (a INT)",
    ] {
        assert!(matches!(of(text, false), Repeat::Never(_)), "{text}: {:?}", of(text, false));
    }
    assert!(matches!(of("INSERT INTO t VALUES (NOW())", true), Repeat::Never(_)));
    assert_eq!(of("INSERT INTO t VALUES (1)", true), Repeat::AsWritten);
}
