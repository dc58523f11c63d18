//! A dump directory of MySQL Shell, recorded by hand: the program does not run here.

use std::process::Command;

use super::{folder_of, load_folder, succeed};
use crate::errors::assert_tells;
use crate::servers::pair;

const TABLE: &str = r#"{"options": {"schema": "hortator_case", "table": "t", "columns": ["id", "v", "b"],
    "decodeColumns": {"b": "FROM_BASE64"}, "primaryIndex": "PRIMARY", "compression": "zstd",
    "defaultCharacterSet": "utf8mb4", "fieldsTerminatedBy": "\t", "fieldsEnclosedBy": "", "fieldsEscapedBy": "\\",
    "fieldsOptionallyEnclosed": false, "linesTerminatedBy": "\n"}, "triggers": ["tr"], "includesData": true,
    "includesDdl": true, "extension": "tsv.zst", "chunking": true}"#;

const FILES: [(&str, &str); 15] = [
    (
        "@.json",
        r#"{"dumper": "mysqlsh Ver 8.0.35", "version": "2.0.1", "origin": "dumpInstance", "schemas": ["hortator_case"],
            "basenames": {"hortator_case": "hortator_case"}, "defaultCharacterSet": "utf8mb4", "tzUtc": true}"#,
    ),
    ("@.done.json", r#"{"end": "2026-01-01 00:00:00", "dataBytes": 1}"#),
    ("@.sql", "-- MySQLShell dump\n"),
    ("@.post.sql", "-- end\n"),
    ("@.users.sql", "CREATE USER IF NOT EXISTS `nobody_of_the_dump`@`%`;\n"),
    (
        "hortator_case.json",
        r#"{"schema": "hortator_case", "includesDdl": true, "includesViewsDdl": true, "includesData": true,
            "tables": ["t"], "views": ["v"], "events": [], "functions": ["f"], "procedures": [],
            "basenames": {"t": "hortator_case@t", "v": "hortator_case@v"}}"#,
    ),
    (
        "hortator_case.sql",
        "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `hortator_case`;\nUSE `hortator_case`;\nDELIMITER ;;\nCREATE FUNCTION \
         `f`() RETURNS int DETERMINISTIC\nBEGIN\n  RETURN 1;\nEND ;;\nDELIMITER ;\n",
    ),
    (
        "hortator_case@t.sql",
        "CREATE TABLE IF NOT EXISTS `t` (`id` int NOT NULL, `v` text, `b` blob, PRIMARY KEY (`id`)) ENGINE=InnoDB;\n",
    ),
    ("hortator_case@t.json", TABLE),
    (
        "hortator_case@t.triggers.sql",
        "DELIMITER ;;\nCREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.v = 'changed'; END ;;\nDELIMITER ;\n",
    ),
    ("hortator_case@t@0.tsv", "1\tä\\\tb\tAP8=\n2\t\\N\t\\N\n"),
    ("hortator_case@t@@1.tsv", "3\tNULL\tQUJD\\\nREVG\n"),
    ("hortator_case@t@@1.tsv.zst.idx", ""),
    ("hortator_case@v.pre.sql", "CREATE VIEW `v` AS SELECT 1 AS `id`;\n"),
    ("hortator_case@v.sql", "/*!50001 DROP VIEW IF EXISTS `v`*/;\nCREATE VIEW `v` AS SELECT `id` FROM `t`;\n"),
];

/// The directory with these files, its rows compressed.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = folder_of(files);
    for (name, _) in files.iter().filter(|(name, _)| name.ends_with(".tsv")) {
        succeed(Command::new("zstd").args(["-q", "--rm"]).arg(folder.path().join(name)));
    }
    folder
}

#[test]
fn is_loaded() {
    let pair = pair();
    pair.hortator.reset();
    let folder = directory(&FILES);
    assert_tells(&load_folder(&pair.hortator, folder.path(), &["--verify"]), 0, &["verified"]);
    let rows = pair.hortator.rows_of_case("SELECT id, v, HEX(b) FROM t ORDER BY id");
    assert_eq!(rows, [["1", "ä\tb", "00FF"], ["2", "NULL", "NULL"], ["3", "NULL", "414243444546"]]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, f() FROM v WHERE id = 2"), [["2", "1"]]);
    assert_eq!(pair.hortator.rows_of_case("SELECT COUNT(*) FROM mysql.user WHERE user LIKE 'nobody%'"), [["0"]]);
}

#[test]
fn definitions_in_several_files_checksums_and_the_progress_of_another_load() {
    let pair = pair();
    pair.hortator.reset();
    let schema = FILES[5].1.replace("\"includesDdl\"", "\"multifileDdl\": true, \"includesDdl\"");
    let (create, function) = FILES[6].1.split_once("USE `hortator_case`;\n").unwrap();
    let mut files = FILES.to_vec();
    files[5].1 = &schema;
    files[6].1 = create;
    let lacking = load_folder(&pair.hortator, directory(&files).path(), &[]);
    assert_tells(&lacking, 1, &["lacks the file hortator_case.routines.sql", "hortator_case.json names routines"]);
    files.extend([
        ("hortator_case.routines.sql", function),
        ("hortator_case.events.sql", "-- none\n"),
        ("@.checksums.json", "{}"),
        ("load-progress.018f8c6d-0000-7000-8000-000000000001.json", "{}"),
    ]);
    assert_tells(&load_folder(&pair.hortator, directory(&files).path(), &[]), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, f() FROM v WHERE id = 2"), [["2", "1"]]);
}

#[test]
fn rows_that_are_left_out_are_not_read() {
    let pair = pair();
    let folder = directory(&FILES);
    std::fs::write(folder.path().join("hortator_case@t@0.tsv.zst"), "no zstd").unwrap();
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["hortator_case@t@0.tsv.zst"]);
    for option in ["--no-data", "--skip=hortator_case.t"] {
        pair.hortator.reset();
        // The view reads the table.
        let options = [option, "--skip=hortator_case.v"];
        assert_tells(&load_folder(&pair.hortator, folder.path(), &options), 0, &[]);
    }
}

#[test]
fn a_table_that_is_there_is_an_error() {
    let pair = pair();
    pair.hortator.reset();
    let mut connection = pair.hortator.connect();
    connection.execute(b"CREATE TABLE hortator_case.t (id INT, v TEXT, b BLOB)").unwrap();
    assert_tells(
        &load_folder(&pair.hortator, directory(&FILES).path(), &[]),
        1,
        &["1050", "already exists", "hortator_case@t.sql"],
    );
    assert!(pair.hortator.rows_of_case("SELECT id FROM t").is_empty());
}

#[test]
fn what_is_not_certain_is_refused_before_anything_is_loaded() {
    let pair = pair();
    pair.hortator.reset();
    let without = |name: &str| FILES.into_iter().filter(|(file, _)| *file != name).collect::<Vec<_>>();
    let changed = |name: &str, from: &str, to: &str| {
        let change = |(file, text): (&'static str, &'static str)| {
            (file, if file == name { text.replace(from, to) } else { text.to_owned() })
        };
        FILES.into_iter().map(change).collect::<Vec<_>>()
    };
    for (missing, words) in [
        ("@.done.json", &["incomplete dump", "@.done.json"][..]),
        ("hortator_case@t@@1.tsv", &["lacks the file hortator_case@t@@1.tsv.zst"]),
        ("hortator_case@t@0.tsv", &["lacks the file hortator_case@t@@0.tsv.zst"]),
        ("hortator_case@t.json", &["lacks the file hortator_case@t.json"]),
        ("hortator_case@v.pre.sql", &["hortator_case@v.pre.sql"]),
    ] {
        let folder = directory(&without(missing));
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, words);
    }
    for (name, from, to, words) in [
        ("@.json", "2.0.1", "3.0.0", &["version 3.0.0"][..]),
        ("@.json", "}", "", &["@.json", "not what MySQL Shell writes"]),
        ("hortator_case@t.json", "FROM_BASE64", "UPPER", &["the column b is decoded by UPPER"]),
        ("hortator_case@t.json", "utf8mb4", "sjis", &["rows are in sjis"]),
    ] {
        let files = changed(name, from, to);
        let files: Vec<_> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
        let folder = directory(&files);
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, words);
    }
    let strange = FILES.into_iter().chain([("more.sql", "")]).collect::<Vec<_>>();
    assert_tells(&load_folder(&pair.hortator, directory(&strange).path(), &[]), 1, &["MySQL Shell", "more.sql"]);
    let mixed = FILES.into_iter().chain([("metadata", "")]).collect::<Vec<_>>();
    let outcome = load_folder(&pair.hortator, directory(&mixed).path(), &[]);
    assert_tells(&outcome, 1, &["mixes two dumps", "mydumper", "MySQL Shell"]);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
}
