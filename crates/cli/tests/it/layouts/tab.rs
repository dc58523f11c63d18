//! Folders of `mariadb-dump --tab`, as the program writes them, and of `--dir`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{assert_equal, folder_of, load_folder, succeed};
use crate::errors::assert_tells;
use crate::programs::{Contender, Dump, load};
use crate::servers::{DATABASE, Pair, pair};
use crate::target;

/// Rows that a trigger would change, computed and invisible columns, every kind of value, views out of order.
const SOURCE: &str = r#"
CREATE TABLE customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) CHARACTER SET latin1, note TEXT, b BLOB,
    flags BIT(3), place GEOMETRY, d DATETIME NULL, ts TIMESTAMP DEFAULT '2020-01-01 00:00:00',
    twice INT GENERATED ALWAYS AS (id * 2) VIRTUAL, hidden INT INVISIBLE DEFAULT 3);
SET time_zone = '+05:00';
INSERT INTO customers (id, name, note, b, flags, place, d, ts) VALUES
    (1, 'Jörg', 'a\tb\n\\c''";,\n', x'00ff0a0d5c1a2722', b'101', POINT(1, 2), '2020-02-03 00:00:00', '2021-01-01 01:00:00'),
    (2, NULL, '', NULL, NULL, NULL, NULL, NULL), (3, '\\N', 'NULL', x'27', b'0', NULL, '2021-01-01 10:11:12', NULL);
CREATE TABLE `od.d-schema` (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES customers (id));
INSERT INTO `od.d-schema` VALUES (1, 1), (2, 3);
CREATE TABLE empty (id INT);
CREATE TABLE mark (v VARCHAR(10) CHARACTER SET utf8mb4);
INSERT INTO mark VALUES (CONVERT(x'efbbbf78' USING utf8mb4));
CREATE TABLE magic (b BLOB);
INSERT INTO magic VALUES (x'1f8b0800');
CREATE VIEW z AS SELECT id, name FROM customers;
CREATE VIEW a AS SELECT * FROM z;
DELIMITER //
CREATE TRIGGER tr BEFORE INSERT ON customers FOR EACH ROW BEGIN SET NEW.note = 'changed'; SET NEW.d = NULL; END//
DELIMITER ;
"#;

/// Fills the client's server, and has mariadb-dump write a folder. The server writes the rows, as its own user.
pub(super) fn dump(pair: &Pair, source: &str, options: &[&str]) -> TempDir {
    pair.client.reset();
    let outcome = load(Contender::Client, &pair.client, Dump::Bytes(source.as_bytes()), false);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("mariadb-dump");
    command.args(["--no-defaults", "-u", "root", "--triggers"]).arg("-S").arg(pair.client.socket());
    succeed(command.arg("--tab").arg(folder.path()).args(options).arg(DATABASE));
    folder
}

const SEPARATORS: [&str; 4] = [
    "--fields-terminated-by=,",
    "--fields-optionally-enclosed-by=\"",
    "--fields-escaped-by=|",
    "--lines-terminated-by=\r\n",
];

#[test]
fn is_loaded_as_it_was_dumped() {
    let pair = pair();
    for options in [&[][..], &SEPARATORS] {
        let folder = dump(&pair, SOURCE, options);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), options), 0, &[]);
        assert_equal(&pair);
    }
}

/// Every pair of bytes that is a character of one of these sets, with what may be taken for the end of a field behind it.
const PAIRS: &str = r#"
CREATE TABLE pairs (id INT PRIMARY KEY, s VARCHAR(6) CHARACTER SET sjis, c CHAR(6) CHARACTER SET cp932, n INT,
    g TEXT CHARACTER SET gbk, b VARCHAR(6) COLLATE big5_bin, l VARCHAR(6)) CHARACTER SET euckr;
SET sql_mode = '';
INSERT IGNORE INTO pairs SELECT seq, UNHEX(CONCAT(HEX(seq), '5C')), UNHEX(CONCAT(HEX(seq), '097C')), seq,
    UNHEX(CONCAT('5C', HEX(seq), '0A')), UNHEX(CONCAT(HEX(seq), HEX(seq))), UNHEX(HEX(seq)) FROM seq_33000_to_65278;
CREATE TABLE members (e ENUM('表', 'b'), s SET('x', '表') DEFAULT NULL) CHARACTER SET cp932;
INSERT INTO members VALUES ('表', 'x,表'), ('b', NULL), (NULL, '');
"#;

#[test]
fn second_bytes_of_characters_are_no_escapes_and_no_separators() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let separators = ["--fields-terminated-by=|", "--fields-optionally-enclosed-by=^", "--lines-terminated-by=~\n"];
    for options in [&[][..], &separators] {
        let folder = dump(&pair, PAIRS, options);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), options), 0, &[]);
        assert_equal(&pair);
    }
}

#[test]
fn characters_that_hide_separators_are_refused() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE a (id INT); INSERT INTO a VALUES (1);\nCREATE TABLE u (id INT, v TEXT CHARACTER SET ucs2); INSERT INTO u VALUES (1, 'x');\n";
    let folder = dump(&pair, source, &[]);
    pair.hortator.reset();
    let words = ["u.txt", "column v", "ucs2", "without --tab"];
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &words);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
    // The server's table says what it is where the dump does not.
    for (charset, status) in [("ucs2", 1), ("cp932", 1), ("latin1", 0)] {
        pair.hortator.reset();
        let create = format!("CREATE TABLE {DATABASE}.t (id INT, v TEXT CHARACTER SET {charset})");
        pair.hortator.connect().execute(create.as_bytes()).unwrap();
        let words: &[&str] = if status == 0 { &[] } else { &["t.txt", "column v", charset, "definition"] };
        let folder = folder_of(&[("t.txt", "1\tx\n")]);
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), status, words);
        assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t").is_empty(), status == 1);
    }
}

#[test]
fn a_table_without_rows_has_nothing_to_split() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE u (id INT, v TEXT CHARACTER SET ucs2, b BIT(16));\n";
    for options in [&[][..], &["--no-create-info"]] {
        let folder = dump(&pair, source, options);
        pair.hortator.reset();
        if !options.is_empty() {
            pair.hortator.connect().execute(source.replace(" u ", &format!(" {DATABASE}.u ")).as_bytes()).unwrap();
        }
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
        assert_equal(&pair);
    }
}

#[test]
fn a_table_that_is_left_out_is_not_refused() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let definitions = "CREATE TABLE a (id INT);\nCREATE TABLE u (id INT, v TEXT CHARACTER SET ucs2);\n";
    let source = format!("{definitions}INSERT INTO a VALUES (1); INSERT INTO u VALUES (1, 'x');\n");
    let skip = format!("--skip={DATABASE}.u");
    let only = format!("--only={DATABASE}.a");
    for of_dump in [&[][..], &["--no-create-info"]] {
        let folder = dump(&pair, &source, of_dump);
        let load = |option: &[&str]| {
            pair.hortator.reset();
            if !of_dump.is_empty() {
                let defined = load(Contender::Client, &pair.hortator, Dump::Bytes(definitions.as_bytes()), false);
                assert_eq!(defined.status, Some(0), "{}", defined.messages);
            }
            load_folder(&pair.hortator, folder.path(), option)
        };
        for option in [&skip, &only] {
            assert_tells(&load(&[option]), 0, &[]);
            assert_eq!(pair.hortator.rows_of_case("SELECT id FROM a"), [["1"]]);
        }
        assert_tells(&load(&["--no-data"]), 0, &[]);
        assert!(pair.hortator.rows_of_case("SELECT id FROM a UNION ALL SELECT id FROM u").is_empty());
        for option in [&[][..], &["--plan"], &["--no-schema"]] {
            assert_tells(&load(option), 1, &["cannot load", "column v", "ucs2"]);
        }
        assert_tells(&load(&["--plan", &skip]), 0, &[]);
    }
}

/// All values of one and two bytes but one, and some of more.
const BITS: &str = r#"
CREATE TABLE bits (i INT, a BIT(8), b BIT(16), c BIT(12), d BIT(64), e BIT, j INT);
INSERT INTO bits SELECT seq, seq MOD 256, seq, seq MOD 4096, (seq MOD 256) * 72340172838076673, seq MOD 2, seq FROM seq_0_to_65535
    WHERE seq <> 0x5C4E;
CREATE TABLE short (a BIT(8), c BIT(12), e BIT, f BIT(14));
INSERT INTO short VALUES (NULL, NULL, NULL, NULL), (0x5C, 0x0C4E, 1, 0x094E), (NULL, 0x0909, NULL, 0x0A0A);
"#;

#[test]
fn bits_are_bytes_without_escapes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let separators = ["--fields-terminated-by=,", "--fields-optionally-enclosed-by=~", "--lines-terminated-by=\r\n"];
    for options in [&[][..], &separators] {
        let folder = dump(&pair, BITS, options);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), options), 0, &[]);
        assert_equal(&pair);
    }
}

/// NULL among values that look like it, and around what may be taken for the end of a field.
const NULL_BITS: &str = r#"
CREATE TABLE nulls (i INT, a BIT(15), b BIT(16), s VARCHAR(9), c BIT(24), d BIT(40), e BIT(64), t VARCHAR(9), f BIT(64));
INSERT INTO nulls VALUES (1, NULL, NULL, 'hello', NULL, NULL, NULL, 'hello', NULL), (2, 1, 2, 'x', NULL, 3, NULL, '', 0x5C4E),
    (3, NULL, NULL, '', 0x5C4E09, NULL, 0x5C4E095C4E095C4E, 't', 0x095C4E), (4, NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE only_last (i INT, e BIT(64));
INSERT INTO only_last VALUES (1, NULL), (12345, NULL), (3, 0x0A), (4, NULL);
CREATE TABLE never (a BIT(15) NOT NULL, b BIT(16) NOT NULL, c BIT(24) NOT NULL, d BIT(64) NOT NULL);
INSERT INTO never VALUES (0x5C4E, 0x5C4E, 0x5C4E09, 0x5C4E095C4E095C4E), (1, 0x4E09, 0x095C4E, 0x5C4E0A);
"#;

#[test]
fn null_is_told_from_bits() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let separators = ["--fields-terminated-by=,", "--fields-enclosed-by=\"", "--lines-terminated-by=\r\n"];
    for options in [&[][..], &separators, &["--fields-escaped-by=", "--null=NULL"]] {
        let of_dump: Vec<&str> = options.iter().copied().filter(|option| !option.starts_with("--null")).collect();
        let folder = dump(&pair, NULL_BITS, &of_dump);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), options), 0, &[]);
        assert_equal(&pair);
    }
    // NULL and this value look the same.
    let folder = dump(&pair, "CREATE TABLE t (b BIT(16)); INSERT INTO t VALUES (1), (0x5C4E), (3);\n", &[]);
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT b + 0 FROM t ORDER BY 1"), [["NULL"], ["1"], ["3"]]);
}

#[test]
fn truncated_bits_are_noticed() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    for (bits, value, cut) in [(8, "0x0A", 1), (64, "0x0A05", 2)] {
        let source = format!("CREATE TABLE t (i INT, b BIT({bits})); INSERT INTO t VALUES (1, 0), (2, {value});\n");
        let folder = dump(&pair, &source, &[]);
        let rows = folder.path().join("t.txt");
        let whole = fs::read(&rows).unwrap();
        fs::remove_file(&rows).unwrap();
        fs::write(&rows, &whole[..whole.len() - cut]).unwrap();
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["at line 2", "t.txt", "truncated"]);
        assert_eq!(pair.hortator.rows_of_case("SELECT i FROM t"), [["1"]]);
    }
}

#[test]
fn bits_in_a_character_set() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    for charset in ["latin1", "cp1251"] {
        let folder = dump(&pair, BITS, &[&format!("--default-character-set={charset}")]);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
        assert_equal(&pair);
    }
    // The server writes question marks for what is no text in UTF-8.
    for (bits, status) in [(7, 0), (8, 1)] {
        let source = format!("CREATE TABLE t (b BIT({bits})); INSERT INTO t VALUES (0x5C), (0x0A);\n");
        let folder = dump(&pair, &source, &["--default-character-set=utf8mb3"]);
        pair.hortator.reset();
        let words: &[&str] = if status == 0 { &[] } else { &["t.txt", "column b", "utf8mb3"] };
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), status, words);
        if status == 0 {
            assert_equal(&pair);
        }
    }
}

#[test]
fn bits_in_quotes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE t (a BIT(8), b BIT(16), c BIT(8));\n\
                  INSERT INTO t SELECT seq, seq * 257, seq FROM seq_0_to_255;\n\
                  CREATE TABLE o (c BIT(8)); INSERT INTO o VALUES (10), (34), (44), (NULL), (10), (34), (34), (10);\n";
    for quotes in ["--fields-enclosed-by=\"", "--fields-optionally-enclosed-by=\""] {
        let options = ["--fields-terminated-by=,", quotes];
        let folder = dump(&pair, source, &options);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &options), 0, &[]);
        assert_equal(&pair);
    }
}

#[test]
fn settings_without_a_definition_are_refused() {
    let pair = pair();
    pair.hortator.reset();
    let folder = folder_of(&[("t.sql", "/*!40103 SET TIME_ZONE='+00:00' */;\nSET NAMES latin1;\n"), ("t.txt", "1\n")]);
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["t.sql", "no table, view or sequence"]);
}

#[test]
fn json_of_mysql_is_text_among_bytes() {
    let pair = pair();
    pair.hortator.reset();
    let definition = "CREATE TABLE `t` (\n  `j` json DEFAULT NULL\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n";
    let folder = folder_of(&[("t.sql", definition), ("t.txt", "{\"a\": \"\u{e9}\"}\n\\N\n")]);
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    let found = pair.hortator.rows_of_case("SELECT JSON_EXTRACT(j, '$.a') FROM t ORDER BY 1");
    assert_eq!(found, [["NULL"], ["\"\u{e9}\""]]);
}

#[test]
fn tables_without_rows_of_their_own_have_no_file() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE a (id INT) ENGINE=MyISAM; INSERT INTO a VALUES (1), (2);\n\
                  CREATE TABLE z LIKE a; CREATE TABLE mg (id INT) ENGINE=MERGE UNION=(a, z);\nCREATE VIEW v AS SELECT id FROM mg;\n";
    let folder = dump(&pair, source, &[]);
    assert!(!folder.path().join("mg.txt").exists());
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    assert_equal(&pair);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM mg ORDER BY id"), [["1"], ["2"]]);
}

#[test]
fn rows_without_definitions() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let definitions = "CREATE TABLE a (id INT) ENGINE=MyISAM; CREATE TABLE b (id INT);\n\
                       CREATE TABLE mg (id INT) ENGINE=MERGE UNION=(a); CREATE VIEW v AS SELECT id FROM b;\n";
    let trigger = "CREATE TRIGGER tr BEFORE INSERT ON b FOR EACH ROW SET NEW.id = 3;\n";
    let source = format!("{definitions}INSERT INTO a VALUES (1); INSERT INTO b VALUES (2);\n{trigger}");
    let folder = dump(&pair, &source, &["--no-create-info"]);
    assert!(folder.path().join("mg.sql").exists() && !folder.path().join("mg.txt").exists());
    let load_into_defined = || {
        pair.hortator.reset();
        let outcome = load(Contender::Client, &pair.hortator, Dump::Bytes(definitions.as_bytes()), false);
        assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
        load_folder(&pair.hortator, folder.path(), &[])
    };
    assert_tells(&load_into_defined(), 0, &[]);
    assert_equal(&pair);
    // A file of rows that is lost is noticed.
    fs::remove_file(folder.path().join("b.txt")).unwrap();
    assert_tells(&load_into_defined(), 1, &["b.sql", "no .txt file", "complete copy"]);
    assert!(pair.hortator.rows_of_case("SELECT id FROM a").is_empty());
    // Nor are files without definitions certain beside others.
    fs::write(folder.path().join("c.sql"), "CREATE TABLE c (id INT);\n").unwrap();
    fs::write(folder.path().join("c.txt"), "").unwrap();
    assert_tells(&load_into_defined(), 1, &["v.sql", "no table, view or sequence"]);
}

#[test]
fn views_stand_behind_the_views_that_they_read() {
    let pair = pair();
    let source = "CREATE TABLE base (name INT);\nCREATE VIEW total AS SELECT name FROM base;\n\
                  CREATE VIEW name AS SELECT name FROM total;\n";
    let folder = dump(&pair, source, &[]);
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    assert_equal(&pair);
}

#[test]
fn a_folder_for_each_schema() {
    let pair = pair();
    let tables = dump(&pair, SOURCE, &[]);
    let folder = tempfile::tempdir().unwrap();
    fs::rename(tables.path(), folder.path().join(DATABASE)).unwrap();
    let load = || {
        let mut command = crate::programs::hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "root"]).arg(folder.path());
        crate::programs::run(command)
    };
    pair.hortator.reset();
    assert_tells(&load(), 0, &[]);
    assert_equal(&pair);
    // The schema is created where it is not there, as mariadb-import --dir does it.
    pair.hortator.connect().execute(format!("DROP DATABASE {DATABASE}").as_bytes()).unwrap();
    assert_tells(&load(), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM customers"), [["1"], ["2"], ["3"]]);
}

#[test]
fn uuids_and_addresses_are_text_among_bytes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    pair.hortator.reset();
    let definition = "CREATE TABLE `t` (\n  `u` uuid DEFAULT NULL,\n  `a` inet6 NOT NULL,\n  `b` inet4 DEFAULT NULL\n) \
                      ENGINE=InnoDB;\n";
    let uuid = "018f8c6d-0000-7000-8000-000000000001";
    // The address has 16 characters, as many as its bytes.
    let rows = format!("{uuid}\t2001:db8::1:2345\t192.0.2.1\n\\N\t::\t\\N\n");
    let folder = folder_of(&[("t.sql", definition), ("t.txt", &rows)]);
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    let found = pair.hortator.rows_of_case("SELECT u, a, b FROM t ORDER BY a");
    assert_eq!(found, [["NULL", "::", "NULL"], [uuid, "2001:db8::1:2345", "192.0.2.1"]]);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let pair = pair();
    pair.hortator.reset();
    let table =
        ("t.sql", "DROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n  `id` int(11) DEFAULT NULL\n) ENGINE=InnoDB;\n");
    let load = |files: &[(&str, &str)], options: &[&str]| {
        let folder = folder_of(files);
        load_folder(&pair.hortator, folder.path(), options)
    };
    let other = ("u.txt", "1\n");
    assert_tells(&load(&[table, other], &[]), 1, &["lacks the file t.txt", "t.sql defines its table"]);
    assert_tells(&load(&[table, ("t.txt", ""), other], &[]), 1, &["lacks the file u.sql"]);
    assert_tells(&load(&[table, ("t.txt", ""), ("t.csv", "")], &[]), 1, &["mariadb-dump --tab", "t.csv"]);
    assert_tells(
        &load(&[table, ("t.txt", ""), ("x.sql", "SELECT 1;\n")], &[]),
        1,
        &["x.sql", "no table, view or sequence"],
    );
    assert_tells(&load(&[table, ("t.txt", "")], &["--fields-escaped-by="]), 1, &["NULL cannot be told", "--null"]);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
    assert_tells(&load(&[table, ("t.txt", "1\n2\t3\n")], &[]), 1, &["at line 2", "t.txt", "2 fields, but 1 columns"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]]);
    // Without definitions, the tables are there already.
    assert_tells(&load(&[("t.txt", "4\n\\N\n")], &[]), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["NULL"], ["1"], ["4"]]);
    assert_tells(&load_folder(&pair.hortator, Path::new("/nowhere"), &["--null=x"]), 1, &["--table"]);
}
