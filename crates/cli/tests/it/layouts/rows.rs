//! Files of rows for one table: CSV, and tab-separated as LOAD DATA has it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{folder_of, succeed};
use crate::errors::{assert_tells, load_into};
use crate::interrupted::signal;
use crate::programs::{Outcome, Running, run};
use crate::servers::{DATABASE, Server, pair};

/// Makes an empty table `t`.
pub(super) fn create(server: &Server, columns: &str) {
    server.reset();
    server.connect().execute(format!("CREATE TABLE {DATABASE}.t ({columns})").as_bytes()).unwrap();
}

pub(super) fn load_rows(server: &Server, folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = load_into(server, arguments);
    command.current_dir(folder);
    run(command)
}

#[test]
fn csv_with_a_header() {
    let pair = pair();
    create(
        &pair.hortator,
        "id INT PRIMARY KEY AUTO_INCREMENT, name TEXT, price DECIMAL(8,2), day DATE, extra INT DEFAULT 5",
    );
    let text = "\u{feff}day,name,id,price\r\n2024-02-29,\"J\"\"ö\nrg, \\ 'x'\",0,1.50\r\n\r\n\\N,\"\\N\",2,\\N\r\n,\"\",3,-7\n";
    let folder = folder_of(&[("rows.csv", text)]);
    succeed(Command::new("gzip").arg("-k").arg(folder.path().join("rows.csv")));
    let outcome = load_rows(&pair.hortator, folder.path(), &["--table", "t", "--header", "rows.csv.gz"]);
    // An empty text is no date: INSERT says so, where LOAD DATA stores 0000-00-00.
    assert_tells(
        &outcome,
        1,
        &["ERROR 1292", "at line 6 in file: 'rows.csv.gz'", "Incorrect date value: ''", "byte 75"],
    );
    let expected = [["0", "J\"ö\nrg, \\ 'x'", "1.50", "2024-02-29", "5"], ["2", "\\N", "NULL", "NULL", "5"]];
    let query = "SELECT id, name, price, day, extra FROM t ORDER BY id";
    assert_eq!(pair.hortator.rows_of_case(query), expected);
    let arguments = ["--table", "t", "--header", "--null", "", "rows.csv"];
    create(&pair.hortator, "id INT PRIMARY KEY, name TEXT, price TEXT, day TEXT");
    assert_tells(&load_rows(&pair.hortator, folder.path(), &arguments), 0, &[]);
    let rows = pair.hortator.rows_of_case("SELECT id, name, price, day FROM t WHERE id > 1");
    assert_eq!(rows, [["2", "\\N", "\\N", "\\N"], ["3", "", "-7", "NULL"]]);
}

#[test]
fn tab_separated_rows_and_separators_of_ones_own() {
    let pair = pair();
    create(&pair.hortator, "id INT PRIMARY KEY, a TEXT, b TEXT");
    let files = [
        ("one.tsv", "# heading\n1\ta\\tb\t\\N\n2\tNULL\tx\\\ny\n"),
        ("two.txt", "3;'a;''b'|4;NULL;'NULL'|"),
        ("three", "5,x,y\n"),
    ];
    let folder = folder_of(&files);
    let load = |arguments: &[&str]| load_rows(&pair.hortator, folder.path(), arguments);
    assert_tells(&load(&["--table", "hortator_case.t", "--ignore-lines", "1", "one.tsv"]), 0, &["rows"]);
    let separators = ["--fields-terminated-by=;", "--fields-optionally-enclosed-by='", "--lines-terminated-by=|"];
    let outcome = load(&[&["--table", "`t`"], &separators[..], &["two.txt"]].concat());
    assert_tells(&outcome, 1, &["at line 1", "two.txt", "2 fields, but 3 columns"]);
    let outcome = load(&[&["--table", "t", "--columns", "id,b"], &separators[..], &["-f", "two.txt"]].concat());
    assert_tells(&outcome, 3, &["3 fields, but 2 columns"]);
    assert_tells(&load(&["--table", "t", "three"]), 1, &["three", "--format"]);
    assert_tells(&load(&["--table", "t", "--format", "csv", "--columns", "id, b,`a`", "three"]), 0, &[]);
    let rows = pair.hortator.rows_of_case("SELECT id, a, b FROM t ORDER BY id");
    let expected = [["1", "a\tb", "NULL"], ["2", "NULL", "x\ny"], ["3", "NULL", "a;'b"], ["5", "y", "x"]];
    assert_eq!(rows, expected);
}

#[test]
fn a_bad_row_is_an_error_with_its_line_and_nothing_behind_it_is_loaded() {
    let pair = pair();
    let cases = [
        ("1,a\n2,b,c\n3,d\n", &["at line 2", "3 fields, but 2 columns"][..]),
        ("1,a\n2\n3,d\n", &["at line 2", "1 fields, but 2 columns"]),
        ("1,a\n300,b\n3,d\n", &["ERROR 1264", "at line 2", "Out of range value for column 'id'"]),
        ("1,a\nx,b\n3,d\n", &["ERROR 1366", "at line 2", "Incorrect integer value: 'x'"]),
        ("1,a\n2,too long\n3,d\n", &["ERROR 1406", "at line 2", "Data too long for column 'v'"]),
        ("1,a\n1,b\n3,d\n", &["ERROR 1062", "at line 2", "Duplicate entry '1'"]),
        ("1,a\n2,\\N\n3,d\n", &["ERROR 1048", "at line 2", "cannot be null"]),
        ("1,a\n2,\"b\n3,d\n", &["at line 2", "a quote is opened"]),
        ("1,a\n2,\"b\"x\n3,d\n", &["at line 2", "text follows a closing quote"]),
    ];
    for (text, words) in cases {
        create(&pair.hortator, "id TINYINT PRIMARY KEY, v VARCHAR(3) NOT NULL");
        let folder = folder_of(&[("rows.csv", text)]);
        let outcome = load_rows(&pair.hortator, folder.path(), &["--table", "t", "rows.csv"]);
        assert_tells(&outcome, 1, words);
        assert_eq!(pair.hortator.rows_of_case("SELECT id, v FROM t"), [["1", "a"]], "{text}");
    }
    create(&pair.hortator, "id TINYINT PRIMARY KEY, v VARCHAR(3) NOT NULL");
    let folder = folder_of(&[("rows.csv", "1,a\n300,b\n2,b,b\n3,d\n")]);
    let outcome = load_rows(&pair.hortator, folder.path(), &["--force", "--table", "t", "rows.csv"]);
    assert_tells(&outcome, 3, &["at line 2", "at line 3", "failures: 2"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["3"]]);
}

#[test]
fn blank_lines_are_rows_of_a_table_with_one_column() {
    let pair = pair();
    for (text, expected) in [("\nx\n\r\ny\n", &["", "", "x", "y"][..]), ("\n\n\"x\"\n", &["", "", "x"])] {
        create(&pair.hortator, "v VARCHAR(10)");
        let folder = folder_of(&[("rows.csv", text)]);
        assert_tells(&load_rows(&pair.hortator, folder.path(), &["--table", "t", "rows.csv"]), 0, &[]);
        assert_eq!(pair.hortator.rows_of_case("SELECT v FROM t ORDER BY v").concat(), expected);
    }
}

#[test]
fn a_forced_load_passes_all_lines_of_a_bad_record() {
    let pair = pair();
    create(&pair.hortator, "id INT PRIMARY KEY, v VARCHAR(10)");
    let folder = folder_of(&[("rows.csv", "1,\"a\n5,b\"x\n2,c\n3,\"d\n4,e\n")]);
    let outcome = load_rows(&pair.hortator, folder.path(), &["--force", "--table", "t", "rows.csv"]);
    assert_tells(&outcome, 3, &["at line 1", "text follows a closing quote", "at line 4", "failures: 2"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, v FROM t"), [["2", "c"]]);
}

#[test]
fn what_is_not_certain_is_refused() {
    let pair = pair();
    create(&pair.hortator, "id INT");
    let folder = folder_of(&[("rows.csv", "1\n"), ("empty.csv", "")]);
    let load = |arguments: &[&str]| load_rows(&pair.hortator, folder.path(), arguments);
    assert_tells(&load(&["--table", "a.b.c", "rows.csv"]), 1, &["\"a.b.c\" is not the name of a table"]);
    assert_tells(&load(&["--table", "t", "."]), 1, &["is a folder, but --table"]);
    assert_tells(
        &load(&["--table", "t", "--fields-enclosed-by=ab", "rows.csv"]),
        1,
        &["--fields-enclosed-by", "one byte"],
    );
    assert_tells(&load(&["--table", "t", "--default-character-set=sjis", "rows.csv"]), 1, &["sjis", "UTF-8"]);
    assert_tells(&load(&["--table", "t", "--header", "empty.csv"]), 1, &["empty.csv", "the file is empty"]);
    assert_tells(&load(&["--table", "missing", "rows.csv"]), 1, &["ERROR 1146", "missing"]);
    assert_tells(&load(&["--header", "rows.csv"]), 1, &["--table"]);
    assert_tells(&load(&["rows.csv"]), 1, &["rows.csv holds rows and no statements", "--table"]);
    assert_tells(&load(&["rows.tsv.gz"]), 1, &["rows.tsv.gz holds rows and no statements", "--table"]);
    assert_tells(&load(&["--columns", "a", "rows.csv"]), 2, &["--table"]);
    assert!(pair.hortator.rows_of_case("SELECT * FROM t").is_empty());
}

/// Rows enough for several chunks.
const ROWS: u64 = 120_000;

#[test]
fn a_large_file_is_loaded_in_parallel_and_resumed_after_a_kill() {
    let pair = pair();
    create(&pair.hortator, "id INT, v VARCHAR(40), KEY (id)");
    let rows: String = (0..ROWS).map(|id| format!("{id},\"row \"\"{}\"\"\"\n", id * 7919)).collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let arguments = ["--chunk-bytes", "20000", "--table", "t", "rows.csv"];
    // Not over before it is killed.
    let slowly = ["--throttle", "rate=3000"];
    let mut command = load_into(&pair.hortator, &[&slowly[..], &arguments].concat());
    command.current_dir(folder.path());
    let running = Running::start(command);
    pair.hortator.wait_until("SELECT COUNT(*) > 2000 FROM hortator_case.t");
    signal(&running, Signal::KILL);
    assert_eq!(running.finish().status, None);
    thread::sleep(Duration::from_millis(50));
    // Another table is another load, which leaves this one's checkpoints alone.
    pair.hortator.connect().execute(b"CREATE TABLE hortator_case.u (id INT, v VARCHAR(40))").unwrap();
    assert_tells(&load_rows(&pair.hortator, folder.path(), &["--table", "u", "rows.csv"]), 0, &[]);
    // With other columns, the statements are not those of the first run.
    let other = ["--resume", "--chunk-bytes", "20000", "--table", "t", "--columns", "v,id", "rows.csv"];
    assert_tells(&load_rows(&pair.hortator, folder.path(), &other), 1, &["the input differs"]);
    let outcome = load_rows(&pair.hortator, folder.path(), &[&["--resume"], &arguments[..]].concat());
    assert_tells(&outcome, 0, &["tables: 1"]);
    let found = pair.hortator.rows_of_case(
        "SELECT COUNT(*), COUNT(DISTINCT id), SUM(v = CONCAT('row \"', id * 7919, '\"')), MAX(id) FROM t",
    );
    assert_eq!(found, [[ROWS, ROWS, ROWS, ROWS - 1].map(|number| number.to_string())]);
}

#[test]
fn a_plan_names_the_table_and_its_rows() {
    let pair = pair();
    create(&pair.hortator, "id INT PRIMARY KEY, v TEXT");
    let folder = folder_of(&[("rows.csv", "1,a\n2,b\n")]);
    let outcome = load_rows(&pair.hortator, folder.path(), &["--plan", "--table", "t", "rows.csv"]);
    assert_tells(&outcome, 0, &[]);
    let plan = String::from_utf8_lossy(&outcome.rows).into_owned();
    assert!(plan.contains("hortator_case.t") && plan.contains(" 2 "), "{plan}");
    assert!(pair.hortator.rows_of_case("SELECT * FROM t").is_empty());
}

#[test]
fn standard_input() {
    let pair = pair();
    create(&pair.hortator, "id INT PRIMARY KEY, v TEXT");
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"1,a\n2,b\n").unwrap();
    drop(writer);
    let mut command = load_into(&pair.hortator, &["--table", "t", "--format=csv"]);
    command.stdin(reader);
    assert_tells(&run(command), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT v FROM t ORDER BY id"), [["a"], ["b"]]);
}
