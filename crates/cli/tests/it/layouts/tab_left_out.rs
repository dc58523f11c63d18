//! Files of rows that a load leaves out: they are not read, and may be missing.

use std::fs;

use super::{folder_of, load_folder};
use crate::errors::{assert_tells, load_into};
use crate::programs::run;
use crate::servers::{DATABASE, Pair, pair};

const A: (&str, &str) = ("a.sql", "CREATE TABLE `a` (\n  `id` int(11) DEFAULT NULL\n) ENGINE=InnoDB;\n");
const U: (&str, &str) = ("u.sql", "CREATE TABLE `u` (\n  `id` int(11) DEFAULT NULL\n) ENGINE=InnoDB;\n");
const ROWS: (&str, &str) = ("a.txt", "1\n2\n");

/// The files of `u` as they may be where it is left out: damaged, unreadable, or gone.
const OF_U: [&[(&str, &str)]; 6] = [
    &[U, ("u.txt", "1\t2\n")],
    &[U, ("u.txt", "1\n2")],
    &[U, ("u.txt.gz", "no gzip")],
    &[U, ("u.txt.gz", "")],
    &[U],
    &[("u.txt", "x\ty\n")],
];

fn only_a(pair: &Pair, files: &[(&str, &str)]) {
    let (skip, only) = (format!("--skip={DATABASE}.u"), format!("--only={DATABASE}.a"));
    for option in [&skip, &only] {
        for plan in [&[][..], &["--plan"]] {
            let folder = folder_of(files);
            pair.hortator.reset();
            let outcome = load_folder(&pair.hortator, folder.path(), &[plan, &[option]].concat());
            assert_tells(&outcome, 0, &[]);
            if plan.is_empty() {
                assert_eq!(pair.hortator.rows_of_case("SELECT id FROM a ORDER BY id"), [["1"], ["2"]]);
            }
        }
    }
}

#[test]
fn what_is_left_out_is_not_read() {
    let pair = pair();
    for of_u in OF_U {
        only_a(&pair, &[&[A, ROWS], of_u].concat());
        let folder = folder_of(&[&[A, ROWS], of_u].concat());
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &["--no-data"]), 0, &[]);
        assert!(pair.hortator.rows_of_case("SELECT id FROM a").is_empty());
        // Selected, they are errors as before.
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["u."]);
    }
}

#[test]
fn nor_is_that_of_a_folder_for_each_schema() {
    let pair = pair();
    let folder = folder_of(&[]);
    for (schema, of_u) in [(DATABASE, OF_U[0]), ("hortator_other", OF_U[4])] {
        let inner = folder_of(&[&[A, ROWS], of_u].concat());
        fs::rename(inner.path(), folder.path().join(schema)).unwrap();
    }
    pair.hortator.reset();
    let load = |option: &str| {
        let mut command = crate::programs::hortator("load");
        command.args(["--no-defaults", "-u", "root"]).arg("-S").arg(pair.hortator.socket());
        command.arg(option).arg(folder.path());
        run(command)
    };
    assert_tells(&load("--skip=hortator_other.u"), 1, &["u.txt", "2 fields, but 1 columns"]);
    pair.hortator.reset();
    pair.hortator.connect().execute(b"DROP DATABASE IF EXISTS hortator_other").unwrap();
    assert_tells(&load("--skip=*.u"), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM hortator_other.a ORDER BY id"), [["1"], ["2"]]);
    pair.hortator.connect().execute(b"DROP DATABASE hortator_other").unwrap();
}

#[test]
fn without_definitions_too() {
    let pair = pair();
    let empty = ("a.sql", "");
    for of_u in [&[("u.txt", "1\t2\n")][..], &[empty, ("u.sql", ""), ("u.txt", "1")], &[empty, ("u.sql", "")]] {
        for option in ["--skip", "--only"] {
            pair.hortator.reset();
            for table in ["a", "u"] {
                let create = format!("CREATE TABLE {DATABASE}.{table} (id INT)");
                pair.hortator.connect().execute(create.as_bytes()).unwrap();
            }
            let folder = folder_of(&[&[ROWS], of_u].concat());
            let option = format!("{option}={DATABASE}.{}", if option == "--skip" { "u" } else { "a" });
            assert_tells(&load_folder(&pair.hortator, folder.path(), &[&option]), 0, &[]);
            assert_eq!(pair.hortator.rows_of_case("SELECT id FROM a ORDER BY id"), [["1"], ["2"]]);
        }
    }
}

/// The schema that counts is the one that is selected where the rows come.
#[test]
fn the_selected_schema_decides() {
    let pair = pair();
    pair.hortator.reset();
    pair.hortator.connect().execute(b"CREATE OR REPLACE DATABASE hortator_other").unwrap();
    let folder = folder_of(&[("first.sql", "USE hortator_other;\n"), ("tab/a.sql", A.1), ("tab/a.txt", ROWS.1)]);
    let [first, tab] = ["first.sql", "tab"].map(|name| folder.path().join(name));
    let skip = format!("--skip={DATABASE}.a");
    let arguments = [&skip, first.to_str().unwrap(), tab.to_str().unwrap()];
    assert_tells(&run(load_into(&pair.hortator, &arguments)), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM hortator_other.a ORDER BY id"), [["1"], ["2"]]);
    pair.hortator.connect().execute(b"DROP DATABASE hortator_other").unwrap();
}

#[test]
fn rows_of_the_command_line_are_left_out_too() {
    let pair = pair();
    pair.hortator.reset();
    pair.hortator.connect().execute(format!("CREATE TABLE {DATABASE}.t (id INT)").as_bytes()).unwrap();
    let folder = folder_of(&[("rows.csv", "1,\"2\n"), ("rows.csv.gz", "no gzip")]);
    let skip = format!("--skip={DATABASE}.t");
    for file in ["rows.csv", "rows.csv.gz"] {
        let load = |options: &[&str]| {
            let file = folder.path().join(file);
            run(load_into(&pair.hortator, &[&["--table=t"], options, &[file.to_str().unwrap()]].concat()))
        };
        assert_tells(&load(&[]), 1, &[file]);
        assert_tells(&load(&[&skip]), 0, &[]);
        assert_tells(&load(&["--no-data"]), 0, &[]);
        assert_tells(&load(&["--plan", &skip]), 0, &[]);
    }
    // A file that the user names is to be there.
    let missing = folder.path().join("missing.csv");
    let outcome = run(load_into(&pair.hortator, &["--table=t", &skip, missing.to_str().unwrap()]));
    assert_tells(&outcome, 1, &["missing.csv"]);
}
