//! A folder of .sql files, as `cat *.sql | mariadb` loads it.

use std::process::Command;

use super::{folder_of, load_folder, succeed};
use crate::errors::{assert_tells, load_into};
use crate::programs::run;
use crate::servers::pair;

const FILES: [(&str, &str); 3] = [
    ("00-tables.sql", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));\nSET @n = 7;\n"),
    ("10-rows.sql", "INSERT INTO t VALUES (@n, 'a');\nINSERT INTO t VALUES (1, 'b');\n"),
    ("20-more.sql", "INSERT INTO t VALUES (@n + 1, 'c');\n"),
];

#[test]
fn is_read_in_the_order_of_the_names_in_one_session() {
    let pair = pair();
    let folder = folder_of(&FILES);
    succeed(Command::new("gzip").arg(folder.path().join("10-rows.sql")));
    let expected = [["1", "b"], ["7", "a"], ["8", "c"]];
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &["--verify"]), 0, &["verified"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, v FROM t ORDER BY id"), expected);
    // A shell that finds no file, or a quoted pattern.
    pair.hortator.reset();
    let mut command = load_into(&pair.hortator, &["?0-*.sql*"]);
    command.current_dir(folder.path());
    assert_tells(&run(command), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, v FROM t ORDER BY id"), expected);
    let mut command = load_into(&pair.hortator, &["*.dump"]);
    command.current_dir(folder.path());
    assert_tells(&run(command), 1, &["no file matches *.dump"]);
}

#[test]
fn what_else_is_in_it_is_named_and_nothing_is_loaded() {
    let pair = pair();
    pair.hortator.reset();
    let folder = folder_of(&[FILES[0], ("rows.md", "1\n"), ("sub/a.sql", "")]);
    let outcome = load_folder(&pair.hortator, folder.path(), &[]);
    assert_tells(&outcome, 1, &[folder.path().to_str().unwrap(), "rows.md", "sub/"]);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
}

#[test]
fn a_compressed_file_of_no_bytes_is_refused_before_anything_is_loaded() {
    let pair = pair();
    pair.hortator.reset();
    let folder = folder_of(&[FILES[0], ("10-rows.sql.gz", "")]);
    let outcome = load_folder(&pair.hortator, folder.path(), &[]);
    assert_tells(&outcome, 1, &["10-rows.sql.gz", "unexpected end of the gzip stream", "truncated"]);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
}

#[test]
fn a_failure_names_the_file_and_the_load_resumes_there() {
    let pair = pair();
    pair.hortator.reset();
    let rows = "INSERT INTO t VALUES (9, 'x');\nINSERT INTO missing VALUES (1);\nINSERT INTO t VALUES (10, 'y');\n";
    let folder = folder_of(&[FILES[0], FILES[1], ("30.sql", rows)]);
    let outcome = load_folder(&pair.hortator, folder.path(), &[]);
    assert_tells(&outcome, 1, &["1146", "at line 2", "30.sql", "--resume"]);
    pair.hortator.connect().execute(b"CREATE TABLE hortator_case.missing (id INT)").unwrap();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &["--resume"]), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["7"], ["9"], ["10"]]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM missing"), [["1"]]);
}
