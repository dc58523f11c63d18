//! MySQL servers as sources of `hortator replicate`, with a MariaDB server as the target: the two have the same rows at the
//! end, whatever stands in the log.

use std::path::Path;

use hortator_sandbox::{Builder, Temporary};

use crate::replicate::fan_in::{FanIn, run, texts};
use crate::target;

/// A source with GTIDs and these settings. What it has sent must not be gone after a crash.
pub fn source(settings: &[(&str, &str)]) -> Temporary {
    let folder = target::mysql().expect("cargo xtask mysql names it");
    let builder = Builder::mysql(&folder).set("log_bin", "binlog").set("gtid_mode", "ON").set("sync_binlog", "1");
    let builder = builder.set("enforce_gtid_consistency", "ON");
    settings.iter().fold(builder, |builder, (name, value)| builder.set(*name, *value)).start_temporary().unwrap()
}

pub fn mariadb(settings: &[(&str, &str)]) -> Temporary {
    let builder = settings.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
    builder.start_temporary().unwrap()
}

/// One MySQL source, which starts now, and a MariaDB target.
pub fn pair(settings: &[(&str, &str)]) -> FanIn {
    FanIn::of(vec![source(settings)], mariadb(&[]))
}

/// The rows of a table, all columns that the target has. Binary ones in hexadecimal digits.
fn rows(server: &Temporary, target: &Temporary, table: &str) -> Vec<Vec<String>> {
    let (schema, name) = table.split_once('.').unwrap();
    let columns = texts(
        target,
        &format!(
            "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME = \
             '{name}' ORDER BY ORDINAL_POSITION"
        ),
    );
    assert!(!columns.is_empty(), "the target has no {table}");
    let is_binary =
        |kind: &str| ["blob", "binary", "bit", "geometry", "point", "linestring"].iter().any(|one| kind.contains(one));
    let shown: Vec<String> = columns
        .iter()
        .map(|column| if is_binary(&column[1]) { format!("HEX(`{0}`)", column[0]) } else { format!("`{}`", column[0]) })
        .collect();
    let mut rows = texts(server, &format!("SELECT {} FROM {table}", shown.join(", ")));
    rows.sort();
    rows
}

pub fn assert_same(fan_in: &FanIn, tables: &[&str]) {
    for table in tables {
        let (of_source, of_target) =
            (rows(&fan_in.sources[0], &fan_in.target, table), rows(&fan_in.target, &fan_in.target, table));
        assert_eq!(of_source.len(), of_target.len(), "{table}");
        for (source, target) in of_source.iter().zip(&of_target) {
            assert_eq!(source, target, "{table}");
        }
    }
}

pub const ALL_TYPES: &str = "CREATE TABLE d.ty (id INT PRIMARY KEY AUTO_INCREMENT, ti TINYINT, tu TINYINT UNSIGNED, sm SMALLINT, \
    me MEDIUMINT, mu MEDIUMINT UNSIGNED, bi BIGINT, bu BIGINT UNSIGNED, f FLOAT, dd DOUBLE, de DECIMAL(30,10), \
    de2 DECIMAL(65,30), bt BIT(13), y YEAR, da DATE, tm TIME, tm3 TIME(3), tm6 TIME(6), dt DATETIME, dt6 DATETIME(6), \
    ts TIMESTAMP NULL, ts6 TIMESTAMP(6) NULL, c CHAR(10), c2 CHAR(200), v VARCHAR(20), v2 VARCHAR(400), vb VARBINARY(20), \
    b BINARY(8), tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB, \
    e ENUM('a','b','ö'), s SET('x','y','z'), j JSON, g GEOMETRY, p POINT, ge GEOMETRY SRID 4326, \
    la VARCHAR(20) CHARACTER SET latin1, ut VARCHAR(20) CHARACTER SET utf16, bin VARCHAR(20) COLLATE utf8mb4_bin, \
    g1 INT AS (ti * 2) VIRTUAL, g2 INT AS (ti + 1) STORED, inv INT DEFAULT 7 INVISIBLE)";

pub const A_ROW: &str = "INSERT INTO d.ty (ti, tu, sm, me, mu, bi, bu, f, dd, de, de2, bt, y, da, tm, tm3, tm6, dt, dt6, ts, ts6, c, \
    c2, v, v2, vb, b, tt, tx, mt, lt, tb, bl, mb, lb, e, s, j, g, p, ge, la, ut, bin) VALUES (-5, 250, -30000, -8000000, \
    16000000, -9000000000000000000, 18000000000000000000, 1.5, 0.1, -12345678901234567890.0123456789, \
    1.000000000000000000000000000001, b'1010101010101', 2024, '2024-02-29', '-838:59:59', '12:34:56.789', \
    '-12:34:56.789012', '2024-02-29 12:34:56', '9999-12-31 23:59:59.999999', '2024-02-29 12:34:56', \
    '2038-01-19 03:14:07.999999', 'ä€😀', 'zwei', 'v', REPEAT('x', 300), x'00ff', 'b', REPEAT('t', 100), 'text', 'medium', \
    REPEAT('long ', 1000), x'00', x'0001', REPEAT('m', 70000), x'deadbeef', 'ö', 'x,z', \
    '{\"a\": [1, 2.5, \"ä\", null, true], \"b\": {\"c\": -7}, \"big\": 18446744073709551615}', \
    ST_GEOMFROMTEXT('LINESTRING(0 0,1 1)'), POINT(1, 2), ST_GEOMFROMTEXT('POINT(48 11)', 4326), 'äöü', 'utf16ä', 'Bin')";

/// What a log of MySQL may hold; the session goes on from statement to statement.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    ALL_TYPES,
    A_ROW,
    "INSERT INTO d.ty () VALUES ()",
    "UPDATE d.ty SET j = JSON_SET(j, '$.a[0]', JSON_OBJECT('deep', 1e15)), v = 'changed' WHERE id = 1",
    "CREATE TABLE d.pa (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "INSERT INTO d.pa VALUES (1, 1), (2, 2), (3, 3)",
    "UPDATE d.pa SET id = 12 WHERE id = 3",
    "DELETE FROM d.pa WHERE id = 1",
    "CREATE TABLE d.p (id INT PRIMARY KEY)",
    "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE d.n (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id) ON DELETE SET NULL)",
    "INSERT INTO d.p VALUES (1), (2), (3)",
    "INSERT INTO d.c VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO d.n VALUES (1, 1), (3, 3)",
    "DELETE FROM d.p WHERE id = 1",
    "UPDATE d.p SET id = 20 WHERE id = 2",
    "CREATE TABLE d.ct AS SELECT * FROM d.pa",
    "SET sql_generate_invisible_primary_key = 1",
    "CREATE TABLE d.gi (v INT)",
    "INSERT INTO d.gi VALUES (1), (2)",
    "SET sql_generate_invisible_primary_key = 0",
    // Only by its default collation are these two texts not the same key.
    "CREATE TABLE d.un (v VARCHAR(20) PRIMARY KEY) CHARSET = utf8mb4",
    "INSERT INTO d.un VALUES ('😀'), ('😁'), ('a'), ('a ')",
    "CREATE TABLE d.un2 (v VARCHAR(20) CHARACTER SET utf8mb4 UNIQUE, w VARCHAR(20) COLLATE utf8mb4_0900_as_cs UNIQUE)",
    "INSERT INTO d.un2 VALUES ('😀', 'a'), ('😁', 'A'), ('s', 'ä')",
    "CREATE TABLE d.srid (p POINT NOT NULL SRID 4326, SPATIAL KEY (p))",
    "INSERT INTO d.srid VALUES (ST_GEOMFROMTEXT('POINT(48 11)', 4326))",
    "CREATE DEFINER = root@localhost VIEW d.vw AS SELECT id, v COLLATE utf8mb4_0900_ai_ci AS v FROM d.ty",
    "CREATE TRIGGER d.tr BEFORE INSERT ON d.pa FOR EACH ROW SET NEW.v = NEW.v + 1",
    "INSERT INTO d.pa VALUES (30, 30)",
    "CREATE PROCEDURE d.pr() INSERT INTO d.pa VALUES (40, 40)",
    "CALL d.pr()",
    "ALTER TABLE d.pa ADD COLUMN w VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT 'w', ADD COLUMN k INT /*!80023 INVISIBLE */ DEFAULT 3",
    "INSERT INTO d.pa (id, v) VALUES (50, 50)",
    // Without keys.
    "CREATE TABLE d.nk (a INT, j JSON)",
    "INSERT INTO d.nk VALUES (1, '{\"x\": [1, 2]}'), (1, '{\"x\": [1, 2]}'), (2, NULL)",
    "UPDATE d.nk SET j = JSON_ARRAY(1, 'zwei', 3.0) WHERE a = 1 LIMIT 1",
    "DELETE FROM d.nk WHERE a = 2",
    // Images of some columns.
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "UPDATE d.ty SET j = '[]', c = 'min' WHERE id = 1",
    "INSERT INTO d.ty (v) VALUES ('minimal')",
    "DELETE FROM d.pa WHERE id = 50",
    "SET SESSION binlog_row_image = 'NOBLOB'",
    "UPDATE d.ty SET v = 'noblob' WHERE id = 3",
    "UPDATE d.ty SET lb = 'noblob', j = '{\"k\": \"v\"}' WHERE id = 1",
    "SET SESSION binlog_row_image = 'FULL'",
    // The changed parts of JSON only; a table without JSON.
    "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
    "UPDATE d.pa SET v = v + 1",
    "UPDATE d.ty SET j = '{\"a\": 1, \"b\": [1, 2, {\"c\": \"a text that is long enough\"}], \"k y\": 0}' WHERE id = 1",
    "UPDATE d.ty SET j = JSON_SET(j, '$.b[2].c', 'short', '$.\"k y\"', 7) WHERE id = 1",
    "UPDATE d.ty SET j = JSON_REMOVE(j, '$.b[0]'), v = 'partial' WHERE id = 1",
    "UPDATE d.ty SET j = JSON_INSERT(j, '$.\"new\"', JSON_OBJECT('z', NULL)) WHERE id = 1",
    "UPDATE d.ty SET v = 'none of it' WHERE id = 1",
    // Tables without JSON too, and those that a cascade changes.
    "UPDATE d.pa SET v = v + 1, id = id + 100 WHERE id = 30",
    "UPDATE d.p SET id = 25 WHERE id = 20",
    "SET SESSION binlog_row_value_options = ''",
    // Whole transactions, compressed.
    "SET SESSION binlog_transaction_compression = ON",
    "BEGIN",
    "INSERT INTO d.pa (id, v) VALUES (60, 60), (61, 61)",
    "SAVEPOINT here",
    "INSERT INTO d.pa (id, v) VALUES (62, 62)",
    "ROLLBACK TO here",
    "UPDATE d.ty SET j = JSON_OBJECT('compressed', TRUE) WHERE id = 2",
    "COMMIT",
    "SET SESSION binlog_transaction_compression = OFF",
    "SET gtid_next = 'AUTOMATIC:tagged'",
    "INSERT INTO d.pa (id, v) VALUES (70, 70)",
    "SET gtid_next = 'AUTOMATIC'",
    "FLUSH BINARY LOGS",
    // Statements.
    "SET SESSION binlog_format = 'STATEMENT', time_zone = '+03:00', sql_mode = 'ANSI_QUOTES'",
    "SET @text = 'of a variable', @number = -7, timestamp = 1700000000.25",
    "INSERT INTO d.ty (v, dd, ts6, dt) VALUES (@text, @number, NOW(6), '2024-01-01 00:00:00.7')",
    "UPDATE d.ty SET v = CONCAT(v, \"v\") WHERE v = 'of a variable' COLLATE utf8mb4_0900_ai_ci",
    "SET SESSION binlog_format = 'ROW', time_zone = DEFAULT, sql_mode = DEFAULT, timestamp = DEFAULT",
    // MariaDB cannot do this one at once.
    "CREATE TABLE d.at_once (id INT PRIMARY KEY, g INT AS (id * 2) VIRTUAL, KEY (g))",
    "INSERT INTO d.at_once (id) VALUES (1), (2)",
    "ALTER TABLE d.at_once ADD COLUMN c INT DEFAULT 3 FIRST, ALGORITHM = INSTANT",
    "CREATE INDEX c ON d.at_once (c) ALGORITHM = INPLACE LOCK = NONE",
    "RENAME TABLE d.nk TO d.nk2",
    "CREATE TABLE d.gone (id INT)",
    "DROP TABLE d.gone",
    "TRUNCATE TABLE d.gi",
    "INSERT INTO d.gi VALUES (9)",
];

const TABLES: &[&str] =
    &["d.ty", "d.pa", "d.p", "d.c", "d.n", "d.ct", "d.gi", "d.un", "d.un2", "d.srid", "d.nk2", "d.vw", "d.at_once"];

pub fn gtid_executed(server: &Temporary) -> String {
    texts(server, "SELECT @@global.gtid_executed")[0][0].replace('\n', "")
}

pub fn recorded(fan_in: &FanIn) -> String {
    texts(&fan_in.target, "SELECT gtid FROM hortator.replicate_positions")[0][0].clone()
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_log_of_mysql_in_mariadb() {
    for settings in [&[][..], &[("binlog_checksum", "NONE"), ("binlog_transaction_compression", "ON")]] {
        let fan_in = pair(settings);
        assert_eq!(fan_in.says("check"), ("the target and 1 sources can be used".to_owned(), Some(0)));
        let agent = fan_in.start();
        run(&fan_in.sources[0], STATEMENTS);
        fan_in.catch_up();
        assert_same(&fan_in, TABLES);
        assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[0]));
        assert_eq!(fan_in.says("stop").1, Some(0));
        let (log, code) = agent.end();
        assert!(code == Some(0) && !log.contains("stopped"), "{log}");
    }
}

/// Gives the source another start.
fn with_start(fan_in: &mut FanIn, start: &str) {
    let text = format!(
        "{}[[source]]\nname = \"s1\"\nsocket = \"{}\"\nuser = \"root\"\nstart = \"{start}\"\n",
        fan_in.target_table(),
        fan_in.socket(0)
    );
    fan_in.write(&text);
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn starts_by_position_and_by_gtids() {
    let mut fan_in = pair(&[]);
    let source = |statements: &[&str], fan_in: &FanIn| run(&fan_in.sources[0], statements);
    source(
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (1)",
            "SET gtid_next = 'AUTOMATIC:tagged'",
            "INSERT INTO d.t VALUES (2)",
            "SET gtid_next = 'AUTOMATIC'",
            "INSERT INTO d.t VALUES (3)",
            "FLUSH BINARY LOGS",
            "INSERT INTO d.t VALUES (4)",
        ],
        &fan_in,
    );
    let all = gtid_executed(&fan_in.sources[0]);
    let uuid = texts(&fan_in.sources[0], "SELECT @@server_uuid")[0][0].clone();
    let events = texts(&fan_in.sources[0], "SHOW BINLOG EVENTS IN 'binlog.000001'");
    let third = events.iter().filter(|row| row[2].starts_with("Gtid")).nth(3).unwrap()[1].clone();
    let within = events.iter().find(|row| row[2] == "Table_map").unwrap()[1].clone();
    let forget = |fan_in: &FanIn| {
        run(&fan_in.target, &["DROP DATABASE IF EXISTS d", "DROP DATABASE IF EXISTS hortator"]);
        run(&fan_in.target, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    };
    let previous = events.iter().find(|row| row[2] == "Previous_gtids").unwrap()[1].clone();
    for (start, expected) in [
        (format!("binlog.000001:{third}"), vec!["2", "3", "4"]),
        (format!("gtid:{uuid}:1-3:tagged:1"), vec!["3", "4"]),
        (format!("gtid:{uuid}:1-2"), vec!["1", "2", "3", "4"]),
        ("binlog.000002:4".to_owned(), vec!["4"]),
        (format!("binlog.000002:{previous}"), vec!["4"]),
        ("binlog.000001:4".to_owned(), vec!["1", "2", "3", "4"]),
    ] {
        forget(&fan_in);
        if start == "binlog.000001:4" {
            // The log has these from the beginning.
            run(&fan_in.target, &["DROP DATABASE d"]);
        }
        with_start(&mut fan_in, &start);
        let agent = fan_in.start();
        fan_in.catch_up();
        let found: Vec<String> =
            texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").into_iter().flatten().collect();
        assert_eq!(found, expected, "{start}");
        assert_eq!(recorded(&fan_in), all, "{start}");
        fan_in.says("stop");
        assert_eq!(agent.end().1, Some(0), "{start}");
    }
    for (start, said) in [
        (
            format!("binlog.000001:{within}"),
            "is not between two transactions of the source's log: Table_map begins there",
        ),
        ("binlog.000001:130".to_owned(), "is not between two transactions of the source's log: an event ends at"),
        ("binlog.000001:999999".to_owned(), "is not between two transactions of the source's log: the log ends at"),
        ("binlog.000009:4".to_owned(), "Could not find first log file name"),
        ("gtid:0-1-100".to_owned(), "is one of MariaDB, and the source is a server of MySQL"),
        (format!("gtid:{uuid}:1-99"), "does not have the transactions"),
    ] {
        forget(&fan_in);
        with_start(&mut fan_in, &start);
        let agent = fan_in.start_only();
        fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
        let (shown, _) = fan_in.says("status");
        assert!(shown.contains(said), "{start}: {shown}");
        drop(agent);
    }
}

/// What the target cannot run stops the source with its text, and can be done by hand.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn definitions_that_mariadb_does_not_have() {
    let fan_in = pair(&[]);
    let agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d"]);
    fan_in.catch_up();
    for (statement, said, by_hand) in [
        (
            "CREATE TABLE d.fi (id INT PRIMARY KEY, n VARCHAR(20), KEY ((LOWER(n))))",
            "Run on the target what does the same, then `skip` it",
            "CREATE TABLE d.fi (id INT PRIMARY KEY, n VARCHAR(20))",
        ),
        (
            "CREATE USER u@localhost IDENTIFIED BY 'secret'",
            "create the account on the target by hand",
            "CREATE USER u@localhost",
        ),
        (
            "CREATE TABLE d.ja (v VARCHAR(20) COLLATE utf8mb4_ja_0900_as_cs)",
            "no collation in which the same texts are equal as in utf8mb4_ja_0900_as_cs",
            "CREATE TABLE d.ja (v VARCHAR(20) COLLATE utf8mb4_uca1400_nopad_as_cs)",
        ),
        (
            "CREATE TABLE d.ve (id INT PRIMARY KEY, v VECTOR(3))",
            "Unknown data type: 'VECTOR'",
            "CREATE TABLE d.ve (id INT PRIMARY KEY, v LONGBLOB)",
        ),
    ] {
        run(&fan_in.sources[0], &[statement]);
        fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
        let (shown, _) = fan_in.says("status");
        assert!(shown.contains(said), "{statement}: {shown}");
        run(&fan_in.target, &[by_hand]);
        assert_eq!(fan_in.says("skip s1").1, Some(0));
        fan_in.catch_up();
    }
    run(
        &fan_in.sources[0],
        &[
            "INSERT INTO d.fi VALUES (1, 'N')",
            "INSERT INTO d.ja VALUES ('ä')",
            "INSERT INTO d.ve VALUES (1, TO_VECTOR('[1,2,3]'))",
            "UPDATE d.ve SET v = TO_VECTOR('[4,5,6]')",
        ],
    );
    fan_in.catch_up();
    assert_same(&fan_in, &["d.fi", "d.ja", "d.ve"]);
    let (shown, code) = fan_in.says("check");
    assert!(shown.contains("warning: s1: tables with VECTOR columns") && code == Some(0), "{shown}");
    drop(agent);

    // A change of a part of a value that the log does not have.
    run(
        &fan_in.sources[0],
        &["SET GLOBAL binlog_row_image = 'MINIMAL'", "SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'"],
    );
    let (shown, code) = fan_in.says("check");
    assert!(shown.contains("problem: s1: binlog_row_value_options is PARTIAL_JSON") && code == Some(1), "{shown}");
    run(
        &fan_in.sources[0],
        &[
            "CREATE TABLE d.js (id INT PRIMARY KEY, j JSON)",
            "INSERT INTO d.js VALUES (1, '{\"a\": \"a text that is long enough\"}')",
            "UPDATE d.js SET j = JSON_SET(j, '$.a', 'short')",
        ],
    );
    let agent = fan_in.start_only();
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("Update_rows_partial in binlog") && shown.contains("binlog_row_image = FULL"), "{shown}");
    drop(agent);
}

/// A source without GTIDs: by file and position.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_source_without_gtids() {
    let fan_in = pair(&[("gtid_mode", "OFF"), ("enforce_gtid_consistency", "OFF")]);
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    fan_in.catch_up();
    assert_eq!(recorded(&fan_in), "");
    drop(agent);
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (2)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3)"]);
    let agent = fan_in.start();
    fan_in.catch_up();
    assert_same(&fan_in, &["d.t"]);
    drop(agent);
}

/// The files of a server that is gone.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql() {
    let mut fan_in = pair(&[]);
    run(&fan_in.sources[0], STATEMENTS);
    let uuid = texts(&fan_in.sources[0], "SELECT @@server_uuid")[0][0].clone();
    let folder: &Path = &fan_in.sources[0].node(0).data_dir();
    // The target has the first one, CREATE DATABASE.
    for (start, prepare) in [("binlog.000001:4", "DO 0"), (&*format!("gtid:{uuid}:1"), "CREATE DATABASE d")] {
        run(&fan_in.target, &["DROP DATABASE IF EXISTS d", "DROP DATABASE IF EXISTS hortator", prepare]);
        with_start(&mut fan_in, start);
        let (shown, code) = fan_in.says(&format!("run --from-files {}", folder.display()));
        assert!(code == Some(0) && shown.contains("all files are applied"), "{shown}");
        assert_same(&fan_in, TABLES);
        assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[0]), "{start}");
    }
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn rows_that_do_not_fit_are_overwritten() {
    let mut fan_in = pair(&[]);
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[target]\n", "[target]\nconflict = \"overwrite\"\n"));
    let agent = fan_in.start();
    let unique =
        "CREATE TABLE d.u (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4 UNIQUE, w DATETIME(3) UNIQUE)";
    run(&fan_in.sources[0], &["CREATE DATABASE d", ALL_TYPES, unique]);
    fan_in.catch_up();
    run(&fan_in.target, &["INSERT INTO d.ty (id, ti, v) VALUES (1, 1, 'mine'), (2, 2, 'mine')"]);
    run(
        &fan_in.target,
        &["INSERT INTO d.u VALUES (8, 'STRASSE', NULL), (9, NULL, '2024-02-24 01:02:03.004'), (7, 'other', NULL)"],
    );
    let rows = "INSERT INTO d.u VALUES (1, 'strasse', '2024-02-24 01:02:03.004'), (7, 'own', NULL)";
    run(&fan_in.sources[0], &[A_ROW, "INSERT INTO d.ty () VALUES ()", rows]);
    fan_in.catch_up();
    assert_same(&fan_in, &["d.ty", "d.u"]);
    run(&fan_in.target, &["DELETE FROM d.ty", "DELETE FROM d.u"]);
    let partial = "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'";
    let update = "UPDATE d.ty SET j = JSON_SET(j, '$.a[0]', 7) WHERE id = 1";
    run(
        &fan_in.sources[0],
        &[partial, update, "UPDATE d.ty SET ti = 3 WHERE id = 2", "UPDATE d.u SET name = CONCAT(name, 'x')"],
    );
    fan_in.catch_up();
    assert_same(&fan_in, &["d.ty", "d.u"]);
    let (shown, _) = fan_in.says("status --json");
    assert!(shown.contains("\"conflicts_overwritten\":8,") && shown.contains("\"stops\":0,"), "{shown}");
    drop(agent);
}

/// MariaDB would lose the values of these columns. Columns that it converts, and a statement that lists the members, pass.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn enum_members_that_mariadb_does_not_convert() {
    let fan_in = pair(&[]);
    let agent = fan_in.start();
    let columns = "id INT PRIMARY KEY, e ENUM('a', 'ö') NOT NULL, s SET('x', 'ä')";
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d"]);
    for table in ["d.st", "d.ch", "d.mo"] {
        let create = format!("CREATE TABLE {table} ({columns}) CHARSET = latin1");
        run(source, &[&create, &format!("INSERT INTO {table} VALUES (1, 'ö', 'x,ä'), (2, 'a', 'x')")]);
    }
    run(
        source,
        &[
            "CREATE TABLE d.plain (id INT PRIMARY KEY, e ENUM('a', 'b'), v VARCHAR(9)) CHARSET = latin1",
            "INSERT INTO d.plain VALUES (1, 'b', 'ö')",
            "ALTER TABLE d.plain CONVERT TO CHARACTER SET utf8mb4",
            "ALTER TABLE d.mo MODIFY e ENUM('a', 'ö'), MODIFY s SET('x', 'ä'), CONVERT TO CHARACTER SET utf8mb4",
            "ALTER TABLE d.ch CHANGE e e ENUM('a', 'ö') CHARACTER SET utf8mb4, DEFAULT CHARACTER SET utf8mb4",
        ],
    );
    fan_in.catch_up();
    // Not strict: nothing but Hortator would say it.
    run(source, &["USE d", "SET sql_mode = ''", "ALTER TABLE st CONVERT TO CHARACTER SET utf8mb4"]);
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("would lose the values of `e` (enum('a','ö')), `s` (set('x','ä'))"), "{shown}");
    assert!(shown.contains("with a MODIFY of each of these columns"), "{shown}");
    let values = || texts(&fan_in.target, "SELECT e, s FROM d.st ORDER BY id");
    assert_eq!(values(), [["ö", "x,ä"], ["a", "x"]]);
    // What it says to do.
    run(
        &fan_in.target,
        &["ALTER TABLE d.st MODIFY e ENUM('a', 'ö') NOT NULL, MODIFY s SET('x', 'ä'), CONVERT TO CHARACTER \
             SET utf8mb4"],
    );
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    assert_eq!(values(), [["ö", "x,ä"], ["a", "x"]]);
    // MySQL has changed the table in place and kept the numbers of the values: what the manual says about the source.
    run(
        source,
        &[
            "ALTER TABLE d.st MODIFY e INT, MODIFY s BIGINT UNSIGNED",
            "ALTER TABLE d.st MODIFY e ENUM('a', 'ö') NOT NULL, MODIFY s SET('x', 'ä')",
            "INSERT INTO d.st VALUES (3, 'ö', 'ä')",
        ],
    );
    fan_in.catch_up();
    assert_same(&fan_in, &["d.st", "d.ch", "d.mo", "d.plain"]);
    drop(agent);
}
