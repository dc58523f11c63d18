//! Streams of every kind of statement, in each format of the log: the target is the source's equal behind each of them.
//!
//! A stream is a file of `crates/replicate/testdata/streams`, with a statement in each line. It runs in a session of its own, in
//! a schema of its own, whose name stands for `{d}`; `{file}` is a file of the source. A line that begins with `!` must fail.
//! Those in `FORMATS` run in some formats only.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::fan_in::{FanIn, run, texts};
use super::line_of;

/// Streams that are not for all formats: statements have no one result, or a server refuses to write them as such.
pub(super) const FORMATS: &[(&str, &[&str])] = &[
    ("rows_from_a_file", &["ROW", "MIXED"]),
    ("sequences", &["ROW", "MIXED"]),
    ("unsafe_statements", &["ROW", "MIXED"]),
];
/// Transactions of a stream that are passed over before the next one.
const SKIPS_LIMIT: usize = 5;

pub(super) fn streams() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../replicate/testdata/streams");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Runs a stream on the source; what goes wrong there.
pub(super) fn write(fan_in: &FanIn, schema: &str, format: &str, text: &str) -> Vec<String> {
    let source = fan_in.sources[0].node(0);
    let file = source.data_dir().join("rows.txt").display().to_string();
    let mut connection = source.connect().unwrap();
    for statement in [format!("USE {schema}"), format!("SET SESSION binlog_format = {format}")] {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let mut wrong = Vec::new();
    for line in text.lines() {
        let line = line.replace("{d}", schema).replace("{file}", &file);
        let fails = line.strip_prefix('!');
        match (connection.execute(fails.unwrap_or(&line).as_bytes()), fails) {
            (Ok(_), None) | (Err(hortator_mysql::Error::Server(_)), Some(_)) => {}
            (done, _) => wrong.push(format!("{line}: {done:?}")),
        }
    }
    wrong
}

/// Waits until the target has everything; what stops it, each passed over.
fn catch_up(fan_in: &FanIn) -> Vec<String> {
    let mut stops = Vec::new();
    while fan_in.says("wait --caught-up --timeout 100").1 != Some(0) {
        let (status, _) = fan_in.says("status");
        let is_stopped = line_of(&status, "s1").contains("stopped");
        stops.push(status);
        if !is_stopped || stops.len() > SKIPS_LIMIT || fan_in.says("skip s1").1 != Some(0) {
            break;
        }
    }
    stops
}

fn check(format: &str) {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    fs::write(source.node(0).data_dir().join("rows.txt"), "1\tone\n2\ttwo\n3\tthree\n").unwrap();
    let mut found = Vec::new();
    for (number, path) in streams().into_iter().enumerate() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if FORMATS.iter().any(|(stream, formats)| *stream == name && !formats.contains(&format)) {
            continue;
        }
        let schema = format!("k{number}");
        run(source, &[&format!("CREATE DATABASE {schema}")]);
        let mut wrong = write(&fan_in, &schema, format, &fs::read_to_string(&path).unwrap());
        wrong.extend(catch_up(&fan_in));
        if let Err(differs) = catch_unwind(AssertUnwindSafe(|| fan_in.assert_equal(&[&schema]))) {
            wrong.extend(differs.downcast::<String>().map(|text| *text));
        }
        found.extend(wrong.into_iter().map(|text| format!("{name}: {text}")));
    }
    let accounts = "SELECT Host, User, Priv FROM mysql.global_priv WHERE User LIKE '% k%' ORDER BY 1, 2";
    assert_eq!(texts(source, accounts), texts(&fan_in.target, accounts));
    assert!(found.is_empty(), "{format}:\n{}", found.join("\n\n"));
}

#[test]
fn in_row_format() {
    check("ROW");
}

#[test]
fn in_mixed_format() {
    check("MIXED");
}

#[test]
fn in_statement_format() {
    check("STATEMENT");
}

/// Its rows are in the log as a file, which no client can give to the target as the source had it.
#[test]
fn rows_from_a_file_in_statement_format() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    let file = source.node(0).data_dir().join("rows.txt");
    fs::write(&file, "1\n2\n").unwrap();
    let load = format!("LOAD DATA INFILE '{}' INTO TABLE d1.t", file.display());
    run(source, &["INSERT INTO d1.t VALUES (9)", "SET SESSION binlog_format = STATEMENT", &load]);
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (status, _) = fan_in.says("status");
    assert!(status.contains("LOAD DATA in statement format: set binlog_format=ROW on the source"), "{status}");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t"), [["9"]]);
}
