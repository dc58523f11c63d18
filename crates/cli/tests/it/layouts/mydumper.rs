//! A directory of mydumper: of the program itself, and recorded ones of layouts that it does not write.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{assert_equal, folder_of, load_folder};
use crate::errors::assert_tells;
use crate::programs::{Contender, Dump, load};
use crate::selection::rows;
use crate::servers::{DATABASE, Pair, Server, pair};

/// Every kind of object, names with dots and dashes, every byte, several character sets.
const SOURCE: &str = r#"
CREATE TABLE customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) CHARACTER SET latin1, note TEXT, b BLOB,
    flags BIT(3), place GEOMETRY, d DATETIME NULL, ts TIMESTAMP DEFAULT '2020-01-01 00:00:00',
    twice INT GENERATED ALWAYS AS (id * 2) VIRTUAL);
INSERT INTO customers (id, name, note, b, flags, place, d) VALUES
    (1, 'Jörg', 'a\tb\n\\c''";\n', x'00ff0a0d5c1a27', b'101', POINT(1, 2), '2020-02-03 00:00:00'),
    (2, NULL, '', NULL, NULL, NULL, NULL), (3, '\\N', 'NULL', x'27', b'0', NULL, '2021-01-01 10:11:12'),
    (4, 'x', '\\', '', b'1', NULL, '1000-01-01 00:00:00');
CREATE TABLE `od.d-schema` (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES customers (id));
INSERT INTO `od.d-schema` VALUES (1, 1), (2, 3);
CREATE TABLE `wéird nä-me` (v JSON);
INSERT INTO `wéird nä-me` VALUES (JSON_OBJECT('a', 'ü'));
CREATE TABLE empty (id INT);
CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1;
CREATE VIEW v2 AS SELECT id, name, f(id) AS next FROM customers;
CREATE VIEW v1 AS SELECT * FROM v2;
CREATE TABLE other (id INT);
DELIMITER //
CREATE TRIGGER tr BEFORE INSERT ON customers FOR EACH ROW BEGIN
    SET NEW.note = CONCAT(NEW.note, '!');~
    SET NEW.d = NULL;~
END//
CREATE PROCEDURE p() BEGIN
    SELECT 1;~
    SELECT ';' AS semicolon;~
END//
DELIMITER ;
CREATE DATABASE `hortator.second` CHARACTER SET latin1;
USE `hortator.second`;
CREATE TABLE t (v VARCHAR(10));
INSERT INTO t VALUES ('ä');
"#;

/// How often mydumper may fail.
const TRIES: u32 = 5;

/// Fills the client's server, and has mydumper dump it.
fn dump(pair: &Pair, folder: &Path, options: &[&str]) {
    pair.client.reset();
    // mydumper writes a blank between a semicolon and the end of its line.
    let source = SOURCE.replace('~', " ");
    let outcome = load(Contender::Client, &pair.client, Dump::Bytes(source.as_bytes()), false);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    // mydumper 0.10.1 sometimes never ends: a thread of it pushes to a queue that the main thread has freed.
    let mut said = String::new();
    for _ in 0..TRIES {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "30", "mydumper", "-u", "root", "-G", "-R", "-x", "^hortator"]);
        let output = command.arg("-S").arg(pair.client.socket()).arg("-o").arg(folder).args(options).output().unwrap();
        if output.status.success() {
            return;
        }
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        let _ = fs::remove_dir_all(folder);
    }
    panic!("mydumper has failed {TRIES} times: {said}");
}

/// Without the schema that [`Server::reset`] makes: the dump brings it.
fn reset(server: &Server) {
    server.reset();
    server.connect().execute(format!("DROP DATABASE {DATABASE}").as_bytes()).unwrap();
    server.connect().execute(format!("CREATE DATABASE {DATABASE}").as_bytes()).unwrap();
}

#[test]
fn is_loaded_as_it_was_dumped() {
    let pair = pair();
    for options in [&["-r", "2"][..], &["-c"]] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("dump");
        dump(&pair, &folder, options);
        reset(&pair.hortator);
        assert_tells(&load_folder(&pair.hortator, &folder, &["--verify"]), 0, &["verified"]);
        assert_equal(&pair);
        // What exists already stays as it is.
        let again = load_folder(&pair.hortator, &folder, &[]);
        assert_tells(&again, 1, &["1050", "already exists", "-schema.sql"]);
        assert_equal(&pair);
    }
}

#[test]
fn a_part_is_loaded_into_another_schema() {
    let pair = pair();
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("dump");
    dump(&pair, &folder, &[]);
    reset(&pair.hortator);
    let options =
        ["--only=hortator*.w?ird*,hortator*.`od.d-schema`", "--database-map", &format!("`{DATABASE}`=hc_new")];
    assert_tells(&load_folder(&pair.hortator, &folder, &options), 0, &["loaded 3 rows", "changed, statements: "]);
    assert_eq!(rows(&pair.hortator, "SHOW TABLES FROM hc_new"), ["od.d-schema", "wéird nä-me"]);
    assert_eq!(rows(&pair.hortator, &format!("SHOW TABLES FROM {DATABASE}")), [""; 0]);
}

#[test]
fn an_interrupted_load_resumes() {
    let pair = pair();
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("dump");
    dump(&pair, &folder, &[]);
    let rows = folder.join(format!("{DATABASE}.other.sql"));
    fs::write(&rows, "INSERT INTO `other` VALUES (1);\nINSERT INTO `other` VALUES ('x');\n").unwrap();
    reset(&pair.hortator);
    // The value would be bent by a session that is not strict.
    assert_tells(
        &load_folder(&pair.hortator, &folder, &[]),
        1,
        &["at line 2", "other.sql", "Incorrect integer", "'x'"],
    );
    // As long as the first, so that it counts for the same file.
    fs::write(&rows, "INSERT INTO `other` VALUES (1);\nINSERT INTO `other` VALUES ( 2 );\n").unwrap();
    assert_tells(&load_folder(&pair.hortator, &folder, &["--resume"]), 0, &[]);
    pair.client.connect().execute(format!("INSERT INTO {DATABASE}.other VALUES (1), (2)").as_bytes()).unwrap();
    assert_equal(&pair);
}

/// What files begin with since 0.14. The mode is that of the server that was dumped, without the strict ones.
macro_rules! header {
    () => {
        "/*!40101 SET NAMES binary*/;\n/*!40014 SET FOREIGN_KEY_CHECKS=0*/;\n/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,\
         NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION'*/;\n/*!40103 SET TIME_ZONE='+00:00' */;\n"
    };
}

/// As 0.14 and later write it: sections in the metadata, rows in files of their own, made-up names.
const RECENT: [(&str, &str); 9] = [
    (
        "metadata",
        "# Started dump at: 2026-01-01 00:00:00\n[config]\nquote-character = BACKTICK\n\n[`hortator_case`.`t`]\nRows = 3\n\
         [`hortator_case`.`mydumper_0`]\nreal_table_name=a/b\nRows = 1\n[`hortator_case`.`s`]\nrows = 1\nis_sequence = 1\n# Finished dump at: 2026-01-01 00:00:01\n",
    ),
    ("hortator_case-schema-create.sql", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `hortator_case`;\n"),
    (
        "hortator_case.t-schema.sql",
        "/*!40101 SET NAMES binary*/;\n/*!40014 SET FOREIGN_KEY_CHECKS=0*/;\nCREATE TABLE IF NOT EXISTS `t` (\n  `id` int \
         NOT NULL,\n  `v` text CHARACTER SET utf8mb4,\n  `b` blob,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n",
    ),
    (
        "hortator_case.t.00000.00000.sql",
        concat!(
            header!(),
            "LOAD DATA LOCAL INFILE 'hortator_case.t.00000.00000.dat' REPLACE INTO TABLE `t` CHARACTER SET binary FIELDS \
             TERMINATED BY '\\t' ENCLOSED BY '' ESCAPED BY '\\\\' LINES STARTING BY '' TERMINATED BY '\\n' (`id`,`v`,@`b`) \
             SET `b`=UNHEX(@`b`);\n"
        ),
    ),
    ("hortator_case.t.00000.00000.dat", "1\ttab\\\tä\t00FF\n2\t\\N\t\\N\n3\tline\\\nNULL\t\n"),
    ("hortator_case.mydumper_0-schema.sql", "CREATE TABLE `a/b` (`id` int, `d` date);\n"),
    ("hortator_case.mydumper_0.00000.sql", concat!(header!(), "INSERT INTO `a/b` VALUES(1,\"0000-00-00\")\n;\n")),
    ("hortator_case-schema-triggers.sql", ""),
    ("hortator_case.s-schema-sequence.sql", "CREATE SEQUENCE `s` START WITH 5;\nDO SETVAL(`s`, 7);\n"),
];

#[test]
fn a_recent_layout_with_load_data() {
    let pair = pair();
    let folder = folder_of(&RECENT);
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    let rows = pair.hortator.rows_of_case("SELECT id, v, HEX(b) FROM t ORDER BY id");
    assert_eq!(rows, [["1", "tab\tä", "00FF"], ["2", "NULL", "NULL"], ["3", "line\nNULL", ""]]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id, d FROM `a/b`"), [["1", "0000-00-00"]]);
    assert_eq!(pair.hortator.rows_of_case("SELECT NEXTVAL(s)"), [["8"]]);
}

#[test]
fn rows_that_are_left_out_are_not_read() {
    let pair = pair();
    let dat = RECENT.iter().position(|(file, _)| file.ends_with(".dat")).unwrap();
    let mut damaged = RECENT.to_vec();
    damaged[dat].1 = "1\n2";
    let mut without = RECENT.to_vec();
    without.remove(dat);
    for files in [damaged, without] {
        let folder = folder_of(&files);
        for option in ["--skip=hortator_case.t", "--only=hortator_case.a/b", "--no-data"] {
            pair.hortator.reset();
            assert_tells(&load_folder(&pair.hortator, folder.path(), &[option]), 0, &[]);
            let expected = if option == "--no-data" { &[][..] } else { &["1"] };
            assert_eq!(pair.hortator.rows_of_case("SELECT id FROM `a/b`").concat(), expected);
        }
    }
}

#[test]
fn rows_are_checked_strictly_although_their_file_sets_another_mode() {
    let pair = pair();
    for (name, from, to, place) in [
        ("hortator_case.mydumper_0.00000.sql", "(1,", "(99999999999,", "at line 5"),
        ("hortator_case.t.00000.00000.dat", "2\t", "99999999999\t", "at line 2"),
    ] {
        pair.hortator.reset();
        let files =
            RECENT.map(|(file, text)| (file, if file == name { text.replacen(from, to, 1) } else { text.into() }));
        let folder = folder_of(&files.each_ref().map(|(file, text)| (*file, text.as_str())));
        let outcome = load_folder(&pair.hortator, folder.path(), &[]);
        assert_tells(&outcome, 1, &["1264", "Out of range", name, place]);
    }
}

/// A row of LOAD DATA is a string with backslashes in its INSERT.
#[test]
fn a_mode_without_backslash_escapes_is_that_of_the_files_alone() {
    let pair = pair();
    pair.hortator.reset();
    let mode = "/*!40101 SET NAMES binary*/;\n/*!40101 SET SQL_MODE='NO_BACKSLASH_ESCAPES'*/;\n";
    let mut files: Vec<(&str, String)> = RECENT.iter().map(|(file, text)| (*file, (*text).to_owned())).collect();
    files[3].1.insert_str(0, mode);
    files[4].1 = files[4].1.replace("tab", "it's");
    let folder = folder_of(&files.iter().map(|(file, text)| (*file, text.as_str())).collect::<Vec<_>>());
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT v FROM t WHERE id = 1"), [["it's\tä"]]);
}

#[test]
fn a_directory_that_is_not_whole_is_refused_before_anything_is_loaded() {
    let pair = pair();
    pair.hortator.reset();
    let without = |name: &str| RECENT.into_iter().filter(|(file, _)| *file != name).collect::<Vec<_>>();
    let with = |more: (&'static str, &'static str)| RECENT.into_iter().chain([more]).collect::<Vec<_>>();
    let cases = [
        (without("hortator_case.t-schema.sql"), &["lacks the file", "hortator_case.t"][..]),
        (without("hortator_case.t.00000.00000.dat"), &["lacks", "t.00000.00000.dat"]),
        (without("hortator_case.mydumper_0.00000.sql"), &["lacks the file hortator_case.mydumper_0", "1 rows"]),
        (without("hortator_case.t.00000.00000.sql"), &["lacks the file hortator_case.t.sql", "3 rows"]),
        (with(("t.txt", "1\n")), &["mydumper", "t.txt"]),
        (with(("@.json", "{}")), &["mixes two dumps", "mydumper", "MySQL Shell"]),
        ([("metadata.partial", ""), RECENT[1], RECENT[2]].to_vec(), &["incomplete dump", "metadata.partial"]),
    ];
    for (files, words) in cases {
        let folder = folder_of(&files);
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, words);
        assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
    }
}

#[test]
fn a_chunk_that_is_missing_is_told_by_the_count_of_the_rows() {
    let pair = pair();
    pair.hortator.reset();
    let mut files = RECENT.to_vec();
    files[4].1 = "1\ttab\t00FF\n2\t\\N\t\\N\n";
    let outcome = load_folder(&pair.hortator, folder_of(&files).path(), &[]);
    assert_tells(&outcome, 1, &["table hortator_case.t got 2 rows", "has counted 3", "get a complete copy"]);
}

/// The rows of the first run count too.
#[test]
fn a_load_of_counted_rows_resumes() {
    let pair = pair();
    pair.hortator.reset();
    let name = "hortator_case.mydumper_0.00000.sql";
    let with = |value: &str| {
        RECENT.map(|(file, text)| (file, if file == name { text.replace("(1,", value) } else { text.to_owned() }))
    };
    let (bad, good) = (with("(x,"), with("(1,"));
    let folder = folder_of(&bad.each_ref().map(|(file, text)| (*file, text.as_str())));
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["1054", name]);
    fs::write(folder.path().join(name), &good[6].1).unwrap();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &["--resume"]), 0, &[]);
    assert_eq!(
        pair.hortator.rows_of_case("SELECT (SELECT COUNT(*) FROM t), (SELECT COUNT(*) FROM `a/b`)"),
        [["3", "1"]]
    );
}

#[test]
fn a_truncated_chunk_ends_the_load_with_its_place() {
    let pair = pair();
    pair.hortator.reset();
    let mut files = RECENT.to_vec();
    files[4].1 = "1\ttab\t00FF\n2\tcut\t00";
    let folder = folder_of(&files);
    let outcome = load_folder(&pair.hortator, folder.path(), &[]);
    assert_tells(&outcome, 1, &["at line 2", "t.00000.00000.dat", "the file ends within this record: it is truncated"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]]);
}
