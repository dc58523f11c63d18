//! Folders of `mariadb-dump --tab` that were dumped with other options, and rows that have several readings.

use super::tab::dump;
use super::{assert_equal, folder_of, load_folder};
use crate::errors::assert_tells;
use crate::programs::{Contender, Dump, load};
use crate::servers::{DATABASE, Pair, Server, pair};
use crate::target;

/// Runs statements in the schema of a new case.
fn define(server: &Server, statements: &str) {
    server.reset();
    let outcome = load(Contender::Client, server, Dump::Bytes(statements.as_bytes()), false);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
}

/// What is dumped with these options is loaded with those that say how rows are read.
fn assert_loaded(pair: &Pair, source: &str, of_dump: &[&str], of_load: &[&str]) {
    let folder = dump(pair, source, &[of_dump, of_load].concat());
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), of_load), 0, &[]);
    assert_equal(pair);
}

#[test]
fn values_behind_a_header_are_text() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE h (id INT, b BIT(8), c BIT(16), d BIT(64) NOT NULL, l VARCHAR(9) CHARACTER SET latin1,
            s VARCHAR(9) CHARACTER SET sjis, u UUID, a INET6, x BLOB, f DOUBLE);
        INSERT INTO h VALUES (1, 5, 12, 0, 'ä', '表', UUID(), '2001:db8::1:2345', x'00ff0a0d5c', 0.1),
            (2, 7, 99, 18446744073709551615, '', NULL, NULL, NULL, NULL, NULL), (3, NULL, NULL, 9, NULL, 'x', NULL, '::', '', 1);
        CREATE TABLE n (`a\nb` INT, b INT); INSERT INTO n VALUES (1, 2);\n";
    assert_loaded(&pair, source, &[], &["--header"]);
    assert_loaded(&pair, source, &[], &["--header", "--fields-terminated-by=,", "--fields-enclosed-by=\""]);
    let definition = "CREATE TABLE t (id INT, b BIT(1)); INSERT INTO t VALUES (1, 1);\n";
    let folder = dump(&pair, definition, &["--no-create-info", "--header"]);
    define(&pair.hortator, "CREATE TABLE t (id INT, b BIT(1));\n");
    assert_tells(&load_folder(&pair.hortator, folder.path(), &["--header"]), 1, &["t.sql", "column b", "BIT"]);
}

#[test]
fn quotes_without_escapes_are_not_doubled() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE q (id INT, t VARCHAR(9));
        INSERT INTO q VALUES (1, 'abc\"'), (2, 'def'), (3, 'a\"\"b'), (4, '\"'), (5, NULL), (6, ''), (7, '\"\"');\n";
    for quotes in ["--fields-enclosed-by=\"", "--fields-optionally-enclosed-by=\""] {
        assert_loaded(&pair, source, &[], &["--fields-terminated-by=,", quotes, "--fields-escaped-by="]);
    }
}

#[test]
fn bits_with_several_readings_are_loaded_as_they_were_or_refused() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let certain = "CREATE TABLE fb (a BIT(24), t VARCHAR(20), b BIT(16), c BIT(24) NOT NULL);
        INSERT INTO fb VALUES (NULL, '', 0x5859, 0x41090a), (NULL, 'q', 0x4142, 0x434445);
        CREATE TABLE rr (b BIT(32), i INT, c BIT(16) NOT NULL); INSERT INTO rr VALUES (NULL, 5, 0x4109), (1, 1, 1);\n";
    assert_loaded(&pair, certain, &[], &[]);
    for (columns, values) in [
        ("a BIT(24), b BIT(16) NOT NULL, c BIT(16) NOT NULL", "(0x5c4e09, 0x4109, 0x420a), (NULL, 1, 2)"),
        ("a BIT(24), b BIT(24), c BIT(24)", "(NULL, 0x095c4e, 0x5c4e0a), (NULL, 1, 2)"),
    ] {
        let folder = dump(&pair, &format!("CREATE TABLE t ({columns}); INSERT INTO t VALUES {values};\n"), &[]);
        pair.hortator.reset();
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["at line 1", "t.txt", "BIT values"]);
        assert!(pair.hortator.rows_of_case("SELECT * FROM t").is_empty());
    }
}

#[test]
fn a_definition_without_options() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let source = "CREATE TABLE o (id INT, t VARCHAR(9), b BIT(16), a INET6, u UUID, c VARCHAR(9) CHARACTER SET sjis,
            g INT GENERATED ALWAYS AS (id * 2) VIRTUAL, h INT INVISIBLE DEFAULT 3);
        INSERT INTO o (id, t, b, a, u, c) VALUES (1, 'ä', 0x0A09, '2001:db8::1:2345', UUID(), '表');\n";
    let folder = dump(&pair, source, &["--skip-create-options"]);
    pair.hortator.reset();
    assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 0, &[]);
    let query = "SELECT id, t, b + 0, a, u, HEX(c), g, h FROM o";
    assert_eq!(pair.hortator.rows_of_case(query), pair.client.rows_of_case(query));
    // The schema's default character set is that of the texts.
    let create = |charset: &str| {
        format!(
            "ALTER DATABASE {DATABASE} CHARACTER SET {charset};\nCREATE TABLE s (t VARCHAR(9)); INSERT INTO s VALUES ('x');\n"
        )
    };
    for (charset, status) in [("sjis", 1), ("latin1", 0)] {
        let folder = dump(&pair, &create(charset), &["--skip-create-options"]);
        define(&pair.hortator, &format!("ALTER DATABASE {DATABASE} CHARACTER SET {charset};\n"));
        let words: &[&str] = if status == 0 { &[] } else { &["s.txt", "sjis", "--skip-create-options"] };
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), status, words);
    }
    pair.client.reset();
    pair.hortator.reset();
}

#[test]
fn columns_that_only_a_definition_tells_are_refused_without_one() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    for (column, value, word) in [
        ("c INET6", "('2001:db8::1:2345', 1)", "INET6"),
        ("c UUID", "(UUID(), 1)", "UUID"),
        ("c INT GENERATED ALWAYS AS (1) VIRTUAL", "(DEFAULT, 1)", "generated"),
    ] {
        let definition = format!("CREATE TABLE t ({column}, d INT);\n");
        let folder = dump(&pair, &format!("{definition}INSERT INTO t VALUES {value};\n"), &["--no-create-info"]);
        define(&pair.hortator, &definition);
        assert_tells(
            &load_folder(&pair.hortator, folder.path(), &[]),
            1,
            &["t.sql", "column c", word, "--no-create-info"],
        );
        assert!(pair.hortator.rows_of_case("SELECT * FROM t").is_empty());
    }
}

#[test]
fn rows_are_in_the_character_set_of_the_load_where_their_files_name_none() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let definition = "CREATE TABLE t (v VARCHAR(9) CHARACTER SET utf8mb4, a INET6);\n";
    let source = format!("{definition}INSERT INTO t VALUES ('ä', '2001:db8::1:2345');\n");
    for of_dump in ["--no-create-info", "--skip-set-charset"] {
        let folder = dump(&pair, &source, &[of_dump, "--default-character-set=latin1"]);
        define(&pair.hortator, if of_dump == "--no-create-info" { definition } else { "" });
        assert_tells(&load_folder(&pair.hortator, folder.path(), &["--default-character-set=latin1"]), 0, &[]);
        assert_equal(&pair);
    }
    // A comment is no setting.
    let commented = "CREATE TABLE t (v VARCHAR(9) COMMENT 'SET NAMES latin1'); INSERT INTO t VALUES ('ä');\n";
    assert_loaded(&pair, commented, &["--skip-set-charset"], &[]);
}

#[test]
fn times_are_in_utc_unless_the_settings_tell_otherwise() {
    let pair = pair();
    let compact =
        "CREATE TABLE `t` (\n  `id` int(11) DEFAULT NULL,\n  `ts` timestamp NULL DEFAULT NULL\n) ENGINE=InnoDB;\n";
    for (settings, hours) in [("", 0), ("/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='' */;\n", 5)] {
        define(&pair.hortator, "");
        let mut connection = pair.hortator.connect();
        connection.execute(b"SET GLOBAL time_zone = '+05:00'").unwrap();
        let folder = folder_of(&[("t.sql", &format!("{settings}{compact}")), ("t.txt", "1\t2020-01-01 12:00:00\n")]);
        let outcome = load_folder(&pair.hortator, folder.path(), &[]);
        connection.execute(b"SET GLOBAL time_zone = DEFAULT").unwrap();
        assert_tells(&outcome, 0, &[]);
        let found = pair.hortator.rows_of_case("SELECT UNIX_TIMESTAMP(ts) FROM t");
        assert_eq!(found, [[(1_577_880_000 - hours * 3600).to_string()]]);
    }
}

#[test]
fn damaged_bits_are_errors() {
    let pair = pair();
    let definition = "CREATE TABLE `da` (\n  `i` int(11) DEFAULT NULL,\n  `b` bit(16) NOT NULL\n) ENGINE=InnoDB;\n";
    for rows in ["1\tA\n2\tBC\n", "3\t\n2\tBC\n"] {
        pair.hortator.reset();
        let folder = folder_of(&[("da.sql", definition), ("da.txt", rows)]);
        assert_tells(&load_folder(&pair.hortator, folder.path(), &[]), 1, &["at line 1", "da.txt"]);
        assert!(pair.hortator.rows_of_case("SELECT i FROM da").is_empty());
    }
}
