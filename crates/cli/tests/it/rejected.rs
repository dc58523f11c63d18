//! `--reject`: what fails in a forced load can be loaded once its cause is mended, and then nothing is missing.

mod random;
mod resumed;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, Outcome, load, run};
use crate::servers::{DATABASE, Server, pair};
use crate::target;

/// A folder, and the path of a file in it that is not there.
fn reject_file() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejected.sql").to_str().unwrap().to_owned();
    (folder, path)
}

fn load_forced(server: &Server, reject: &str, arguments: &[&str]) -> Outcome {
    run(load_into(server, &[&["--force", "--reject", reject][..], arguments].concat()))
}

/// Loads the file of rejected statements with the client, which knows nothing of the load.
fn with_client(server: &Server, file: &str, arguments: &[&str]) -> Outcome {
    let mut command: Command = target::client();
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root"]).args(arguments);
    command.env_remove("MYSQL_PWD").env("LC_ALL", "C.UTF-8").stdin(fs::File::open(file).unwrap());
    run(command)
}

/// The same with a load.
fn with_load(server: &Server, file: &str, arguments: &[&str]) -> Outcome {
    let mut command = crate::programs::hortator("load");
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root"]).args(arguments).arg(file);
    command.env_remove("MYSQL_PWD").stdin(Stdio::null());
    run(command)
}

fn execute(server: &Server, statements: &str) {
    let mut connection = server.connect();
    connection.select_db(DATABASE.as_bytes()).unwrap();
    for statement in statements.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// The statements in a file that can be loaded again, as they begin.
fn rejected(file: &str) -> Vec<String> {
    let text = fs::read(file).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("-- Statement ") {
            let is_body = |line: &&str| !line.starts_with("--") && !line.starts_with("DELIMITER");
            found.extend(lines.by_ref().find(is_body).map(str::to_owned));
        }
    }
    found
}

/// Loads a dump that leaves what the client leaves; what it rejects is loaded behind `mend`, by the client and by a load, and
/// brings `expected`.
fn check(dump: &str, mend: &str, query: &str, expected: &[&str]) {
    let pair = pair();
    let (client, server) = (&pair.client, &pair.hortator);
    let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
    client.reset();
    load(Contender::Client, client, Dump::File(&path), true);
    for with in [with_client, with_load] {
        server.reset();
        let (_folder, reject) = reject_file();
        let outcome = load_forced(server, &reject, &["--threads", "4", path.to_str().unwrap()]);
        assert_tells(&outcome, 3, &["failures:", &reject]);
        assert_eq!(server.rows_of_case(query), client.rows_of_case(query), "the client leaves something else: {dump}");
        execute(server, mend);
        let again = with(server, &reject, &[]);
        let text = String::from_utf8_lossy(&fs::read(&reject).unwrap()).into_owned();
        assert_eq!(again.status, Some(0), "{}\n{text}", again.messages);
        let rows: Vec<String> = server.rows_of_case(query).into_iter().map(|row| row.join("|")).collect();
        assert_eq!(rows, expected, "{dump}\n{text}");
    }
}

const ROWS: &str = "SELECT * FROM t ORDER BY 1";

#[test]
fn a_duplicate_key() {
    // The client loses the whole statement.
    let dump = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2), (1), (3);\n\
                INSERT INTO t VALUES (4);\n";
    check(dump, "DELETE FROM t WHERE id = 1", ROWS, &["1", "2", "3", "4"]);
}

#[test]
fn a_parent_that_is_missing() {
    let dump = "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE t (id INT PRIMARY KEY, p INT REFERENCES p (id));\n\
                INSERT INTO p VALUES (1);\nINSERT INTO t VALUES (1, 1);\nINSERT INTO t VALUES (2, 7);\n";
    check(dump, "INSERT INTO p VALUES (7)", ROWS, &["1|1", "2|7"]);
}

#[test]
fn values_that_do_not_fit() {
    let dump = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3), n TINYINT, CONSTRAINT c CHECK (n < 100));\n\
                INSERT INTO t VALUES (1, 'abc', 5);\nINSERT INTO t VALUES (2, 'abcdef', 6);\n\
                INSERT INTO t VALUES (3, 'x', 999);\nINSERT INTO t VALUES (4, 'x', 101);\nINSERT INTO t VALUES (5, NULL, 1);\n";
    let mend = "ALTER TABLE t DROP CONSTRAINT c;\nALTER TABLE t MODIFY v VARCHAR(10), MODIFY n INT";
    check(dump, mend, ROWS, &["1|abc|5", "2|abcdef|6", "3|x|999", "4|x|101", "5|NULL|1"]);
}

#[test]
fn a_trigger_that_refuses() {
    let dump = "CREATE TABLE t (id INT PRIMARY KEY);\n\
                CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN IF NEW.id = 2 THEN SIGNAL SQLSTATE '45000'; END IF; END;\n";
    let dump = dump.replace("CREATE TRIGGER", "DELIMITER //\nCREATE TRIGGER").replace("END;\n", "END//\nDELIMITER ;\n")
        + "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2), (3);\nUPDATE t SET id = id + 10;\nINSERT INTO t VALUES (4);\n";
    check(&dump, "DROP TRIGGER g", ROWS, &["2", "3", "4", "11"]);
}

#[test]
fn definitions_and_the_rows_behind_them() {
    // Nothing of `t` can be loaded while a view has its name.
    let dump = "CREATE VIEW t AS SELECT 1 AS x;\nCREATE TABLE t (id INT PRIMARY KEY, v TEXT);\n\
                INSERT INTO t VALUES (1, 'one');\nALTER TABLE t ADD COLUMN w INT DEFAULT 5;\n\
                DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT ';;'; END//\nCREATE PROCEDURE p() BEGIN SELECT 2; SELECT ';;'; END//\n\
                DELIMITER ;\nINSERT INTO t (id, v, w) VALUES (2, 'two', 6);\n";
    check(dump, "DROP VIEW t;\nDROP PROCEDURE p", "SELECT * FROM t", &["1|one|5", "2|two|6"]);
}

#[test]
fn statements_that_the_main_session_runs() {
    let dump = "CREATE TABLE u (id INT PRIMARY KEY);\nCREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 1);\n\
                UPDATE t SET v = 2;\nINSERT INTO t SELECT id, 7 FROM missing;\nINSERT INTO t VALUES (1, 9);\n\
                BEGIN;\nINSERT INTO u VALUES (1);\nINSERT INTO t VALUES (1, 3);\nINSERT INTO t VALUES (5, 3);\nCOMMIT;\n\
                UPDATE t SET missing = 1;\n";
    let mend = "CREATE TABLE missing (id INT);\nINSERT INTO missing VALUES (8);\nUPDATE t SET id = 20 WHERE id = 1;\n\
                ALTER TABLE t ADD missing INT";
    let (client, again) = ("SELECT id, v FROM t ORDER BY 1", ["5|3", "20|2"]);
    // The file has four statements, two of which want the same key.
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
    let (_folder, reject) = reject_file();
    assert_tells(&load_forced(server, &reject, &[path.to_str().unwrap()]), 3, &["failures: 4"]);
    execute(server, mend);
    assert_eq!(server.rows_of_case(client).into_iter().map(|row| row.join("|")).collect::<Vec<_>>(), again);
    let beginnings: Vec<String> = rejected(&reject);
    let expected = [
        "INSERT INTO t SELECT id, 7 FROM missing;",
        "INSERT INTO t VALUES (1, 9);",
        "INSERT INTO t VALUES (1, 3);",
        "UPDATE t SET missing = 1;",
    ];
    assert_eq!(beginnings, expected);
}

#[test]
fn a_transaction_that_the_dump_rolls_back() {
    let pair = pair();
    let server = &pair.hortator;
    for (end, expected) in [("ROLLBACK", &[][..]), ("COMMIT", &["INSERT INTO t VALUES (1, 3);"][..])] {
        server.reset();
        let dump = format!(
            "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 1);\nBEGIN;\nUPDATE t SET v = 5;\n\
             INSERT INTO t VALUES (1, 3);\nUPDATE t SET v = 6;\n{end};\nINSERT INTO t VALUES (9, 9);\n"
        );
        let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
        let (_folder, reject) = reject_file();
        assert_tells(&load_forced(server, &reject, &[path.to_str().unwrap()]), 3, &["failures: 1"]);
        assert_eq!(rejected(&reject), expected, "{end}");
    }
}

#[test]
fn tables_that_keep_the_rows_before_the_one_that_failed() {
    for engine in ["MyISAM", "Aria"] {
        // By a worker; by the main session, because of the trigger; and between changes.
        for between in ["", "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW SET @n = 1;\n", "UPDATE t SET id = 6;\n"] {
            let dump = format!(
                "CREATE TABLE t (id INT PRIMARY KEY) ENGINE={engine};\nINSERT INTO t VALUES (5);\n{between}\
                 INSERT INTO t VALUES (1), (2), (5), (6), (3);\nINSERT INTO t VALUES (1), (8);\nINSERT INTO t VALUES (9);\n"
            );
            let mend = "DELETE FROM t WHERE id IN (1, 5, 6)";
            let expected = &["1", "2", "3", "5", "6", "8", "9"];
            // With 6 in it, the third row goes in and the fourth does not.
            let expected: Vec<&str> = match between.starts_with("UPDATE") {
                true => expected.iter().copied().filter(|id| *id != "5").collect(),
                false => expected.to_vec(),
            };
            check(&dump, mend, ROWS, &expected);
        }
    }
}

#[test]
fn bytes_and_modes() {
    let texts: [(&str, &[u8]); 9] = [
        ("SET NAMES utf8mb4;\n", "INSERT INTO t VALUES (1, 'größer 😀 \\'\\\\ \\n'), (2, x'0041');\n".as_bytes()),
        ("SET NAMES latin1;\n", b"INSERT INTO t VALUES (3, 'gr\xf6\xdfer');\n"),
        ("SET NAMES utf8mb4; SET sql_mode = 'ANSI_QUOTES';\n", b"INSERT INTO \"t\" VALUES (4, 'a\"b');\n"),
        ("SET sql_mode = 'NO_BACKSLASH_ESCAPES';\n", b"INSERT INTO t VALUES (5, 'a\\'), (6, 'b;''\\');\n"),
        ("SET sql_mode = ''; SET time_zone = '+05:30';\n", b"INSERT INTO `t` VALUES (7, _binary'\\0\\Z\xff\xfe;');\n"),
        ("charset sjis\n", b"INSERT INTO t VALUES (8, '\x95\x5c;\x83\x5c');\n"),
        ("charset gbk\n", b"INSERT INTO t VALUES (9, '\xbf\x5c;x');\n"),
        ("charset big5\n", b"INSERT INTO t VALUES (10, '\xa5\x5c;');\n"),
        ("charset utf8mb4\n", b"INSERT INTO t VALUES (11, 'ends with a -- comment'); -- one;\n"),
    ];
    let definition = b"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100) CHARACTER SET utf8mb4) ENGINE=InnoDB;\n";
    let blocks = b"INSERT INTO t VALUES (1,''),(3,''),(4,''),(5,''),(7,''),(8,''),(9,''),(10,''),(11,'');\n";
    let rows = texts.map(|(setting, text)| [setting.as_bytes(), text].concat()).concat();
    let query = "SELECT id, HEX(v) FROM t ORDER BY id";
    let pair = pair();
    let (client, server) = (&pair.client, &pair.hortator);
    client.reset();
    let clean = [&definition[..], &rows].concat();
    let outcome = load(Contender::Client, client, Dump::Bytes(&clean), false);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let (_dump_folder, path) = dump_file("dump.sql", &[&definition[..], blocks, &rows].concat());
    for with in [with_client, with_load] {
        server.reset();
        let (_folder, reject) = reject_file();
        let outcome = load_forced(server, &reject, &[path.to_str().unwrap()]);
        assert_tells(&outcome, 3, &["failures: 9"]);
        execute(server, "DELETE FROM t");
        let again = with(server, &reject, &[]);
        let text = String::from_utf8_lossy(&fs::read(&reject).unwrap()).into_owned();
        assert_eq!(again.status, Some(0), "{}\n{text}", again.messages);
        assert_eq!(server.rows_of_case(query), client.rows_of_case(query), "{text}");
    }
}

/// The file has the dump's own checks, and not what a load makes of them; and names of any characters.
#[test]
fn the_session_of_the_dump() {
    let pair = pair();
    let server = &pair.hortator;
    for with in [with_client, with_load] {
        server.reset();
        server.connect().execute("CREATE DATABASE `größe`".as_bytes()).unwrap();
        let dump = "USE `größe`;\nCREATE TABLE p (id INT PRIMARY KEY);\n\
                    CREATE TABLE t (id INT PRIMARY KEY, p INT, v CHAR(1), FOREIGN KEY (p) REFERENCES p (id));\n\
                    SET time_zone = '+03:00', sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES';\nINSERT INTO \"t\" VALUES (1, NULL, 'ab');\n\
                    SET foreign_key_checks = 0;\ncharset sjis\nINSERT INTO \"t\" VALUES (2, NULL, 'abc');\n";
        let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
        let (_folder, reject) = reject_file();
        let outcome = load_forced(server, &reject, &["--foreign-keys=deferred", path.to_str().unwrap()]);
        assert_tells(&outcome, 3, &["failures: 2"]);
        let text = fs::read_to_string(&reject).unwrap();
        let (first, second) = text.split_once("INSERT INTO").unwrap();
        assert!(first.contains("`foreign_key_checks` = 'ON'") && !first.contains("\\C "), "{text}");
        assert!(second.contains("`foreign_key_checks` = 'OFF'") && second.contains("\\C sjis\n"), "{text}");
        server.connect().execute("ALTER TABLE `größe`.t MODIFY v CHAR(5)".as_bytes()).unwrap();
        let again = with(server, &reject, &[]);
        assert_eq!(again.status, Some(0), "{}\n{text}", again.messages);
        assert_eq!(server.rows_of_case("SELECT id, v FROM `größe`.t ORDER BY id"), [["1", "ab"], ["2", "abc"]]);
    }
}

#[test]
fn bytes_that_only_the_binary_mode_keeps() {
    let pair = pair();
    let server = &pair.hortator;
    let (_dump_folder, path) = dump_file(
        "dump.sql",
        b"CREATE TABLE t (id INT PRIMARY KEY, v BLOB);\nINSERT INTO t VALUES (1, '');\nINSERT INTO t VALUES (1, 'a\r\nb\0c');\n",
    );
    for with in [with_client, with_load] {
        server.reset();
        let (_folder, reject) = reject_file();
        let outcome = load_forced(server, &reject, &["--binary-mode", path.to_str().unwrap()]);
        assert_tells(&outcome, 3, &["failures: 1"]);
        execute(server, "DELETE FROM t");
        assert_eq!(with(server, &reject, &["--binary-mode"]).status, Some(0));
        assert_eq!(server.rows_of_case("SELECT HEX(v) FROM t"), [["610D0A620063"]]);
    }
}

#[test]
fn what_cannot_be_repeated_is_a_comment() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let dump = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\nSET @x = 1;\nINSERT INTO t VALUES (@x);\n\
                SET SESSION sql_mode = 'NO_SUCH_MODE';\nSELECT * FROM nowhere;\nINSERT INTO t VALUES (LAST_INSERT_ID() + 1);\n";
    let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
    let (_folder, reject) = reject_file();
    let outcome = load_forced(server, &reject, &["--json", path.to_str().unwrap()]);
    assert_eq!(outcome.status, Some(3), "{}", outcome.messages);
    let summary: Value = serde_json::from_slice(&outcome.rows).unwrap();
    assert_eq!(summary["reject"]["file"], reject.as_str());
    assert_eq!((&summary["reject"]["statements"], &summary["reject"]["notes"]), (&0.into(), &4.into()), "{summary}");
    let text = fs::read_to_string(&reject).unwrap();
    for word in
        ["-- INSERT INTO t VALUES (@x)\n", "-- SELECT * FROM nowhere\n", "ERROR 1062", "line 4, byte ", "ERROR 1146"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    // All of it is comments: loading it does nothing.
    assert_eq!(with_client(server, &reject, &[]).status, Some(0));
    assert_eq!(fs::metadata(&reject).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn rows_of_csv_files() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    execute(server, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT);\nINSERT INTO t VALUES (2, 'old')");
    let (_dump_folder, path) = dump_file("rows.csv", b"1,one\n2,\"two\n;\"\n3,'three\\\n");
    let (_folder, reject) = reject_file();
    let arguments = ["--table", &format!("{DATABASE}.t"), path.to_str().unwrap()];
    assert_tells(&load_forced(server, &reject, &arguments), 3, &["rows.csv", &reject]);
    execute(server, "DELETE FROM t");
    assert_eq!(with_client(server, &reject, &[]).status, Some(0));
    let rows = server.rows_of_case("SELECT id, HEX(v) FROM t ORDER BY id");
    assert!(rows.contains(&vec!["2".to_owned(), "74776F0A3B".to_owned()]), "{rows:?}");
}

#[test]
fn a_file_that_cannot_be_used() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (folder, path) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\n");
    let dump = path.to_str().unwrap();
    let other = folder.path().join("other.sql");
    fs::write(&other, "SELECT 1;\n").unwrap();
    let refused = |reject: &Path, words: &[&str]| {
        assert_tells(&load_forced(server, reject.to_str().unwrap(), &[dump]), 1, words);
        assert!(server.rows_of_case("SHOW TABLES").is_empty(), "a statement has run");
        assert!(server.rows_of_case("SHOW DATABASES LIKE 'hortator'").is_empty(), "checkpoints are left");
    };
    refused(&other, &["--reject", "other.sql", "not empty"]);
    assert_eq!(fs::read_to_string(&other).unwrap(), "SELECT 1;\n");
    refused(folder.path(), &["--reject", "not a regular file"]);
    refused(&folder.path().join("nowhere/x.sql"), &["--reject", "nowhere", "No such file"]);
    // A load that resumes would read it.
    fs::create_dir(folder.path().join("dump")).unwrap();
    fs::copy(&path, folder.path().join("dump/t.sql")).unwrap();
    let inside = folder.path().join("dump/rejected.sql");
    let arguments = [folder.path().join("dump").to_str().unwrap().to_owned()];
    let outcome = load_forced(server, inside.to_str().unwrap(), &[&arguments[0]]);
    assert_tells(&outcome, 1, &["--reject", "in a folder that is loaded"]);
    assert!(!inside.exists());
    let (_folder, reject) = reject_file();
    assert_tells(&run(load_into(server, &["--reject", &reject, dump])), 2, &["--force"]);
    // Where nothing fails, it is empty, and the next load may take it.
    for _ in 0..2 {
        server.reset();
        assert_tells(&load_forced(server, &reject, &[dump]), 0, &[]);
        assert_eq!(fs::metadata(&reject).unwrap().len(), 0);
    }
}

#[test]
fn no_space_for_the_file() {
    let pair = pair();
    let server = &pair.hortator;
    // By a worker, by the main session, and a definition.
    for statement in ["INSERT INTO t VALUES (1)", "UPDATE t SET nothing = 1", "CREATE TABLE t (id INT)"] {
        server.reset();
        let dump = format!(
            "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n{statement};\nINSERT INTO t VALUES (2);\n"
        );
        let (_dump_folder, path) = dump_file("dump.sql", dump.as_bytes());
        let dump = path.to_str().unwrap();
        let outcome = load_forced(server, "/dev/full", &["--chunk-bytes", "1", dump]);
        assert_tells(&outcome, 1, &["cannot write to /dev/full", "No space left", "--resume"]);
        let (_folder, reject) = reject_file();
        let outcome = load_forced(server, &reject, &["--chunk-bytes", "1", "--resume", dump]);
        assert_tells(&outcome, 3, &["failures: 1"]);
        assert_eq!(rejected(&reject), [format!("{statement};")], "it counted as done");
        assert_eq!(server.rows_of_case(ROWS), [["1"], ["2"]]);
    }
}
