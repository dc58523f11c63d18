//! Different values that look alike, and keys of every type to split tables by.

use hortator_check::compare::Options;

use crate::pair::{pair, run_both, shown};
use crate::run;

#[test]
fn values_that_look_alike_differ() {
    // A column's definition, and two values of it.
    let cases = [
        ("VARCHAR(10)", "NULL", "''"),
        ("VARCHAR(10)", "NULL", "'NULL'"),
        ("VARCHAR(10)", "'a'", "'a '"),
        ("VARCHAR(10) COLLATE utf8mb4_general_ci", "'a'", "'A'"),
        ("VARCHAR(10) CHARSET latin1", "_latin1 X'e9'", "'e'"),
        ("VARCHAR(10) CHARSET latin1", "_latin1 X'81'", "_latin1 X'8d'"),
        ("CHAR(10) CHARSET sjis", "_sjis X'835c'", "_sjis X'8353'"),
        ("VARCHAR(10) CHARSET utf16", "_utf16 X'0061'", "_utf16 X'0062'"),
        ("FLOAT", "1.0000001", "1.0000002"),
        ("FLOAT", "16777216", "16777218"),
        ("DOUBLE", "0.1", "0.1000000000000001"),
        ("DOUBLE", "0", "-5e-324"),
        ("ENUM('a', '')", "''", "'nothing like it'"),
        ("SET('a', 'b')", "'a,b'", "'a'"),
        ("BIT(9)", "b'100000000'", "b'000000000'"),
        ("BLOB", "X'00'", "X''"),
        ("BLOB", "X'00ff'", "X'00fe'"),
        ("BINARY(3)", "'a'", "'a '"),
        ("JSON", "'{\"a\": 1}'", "'{\"a\":1}'"),
        ("DATE", "'0000-00-00'", "'2000-00-00'"),
        ("DATETIME", "'0000-00-00'", "NULL"),
        ("DATETIME(6)", "'2000-01-01 00:00:00.000001'", "'2000-01-01'"),
        ("TIMESTAMP(3) NULL", "'2000-01-01 00:00:00.1'", "'2000-01-01 00:00:00.2'"),
        ("TIME(2)", "'-00:00:00.01'", "'00:00:00.01'"),
        ("YEAR", "0", "2000"),
        ("DECIMAL(40, 10)", "12345678901234567890.0000000001", "12345678901234567890.0000000002"),
        ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551614"),
        ("POINT", "ST_GeomFromText('POINT(1 2)', 0)", "ST_GeomFromText('POINT(1 2)', 4326)"),
        ("INT INVISIBLE", "1", "2"),
        ("INT, w INT AS (v + 1) VIRTUAL", "1", "2"),
        ("UUID", "'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'"),
        ("INET6", "'::1'", "'::2'"),
    ];
    let pair = pair();
    for (definition, one, other) in cases {
        for key in ["INT PRIMARY KEY", "INT"] {
            let mut connections = pair.fresh();
            run_both(&mut connections, &[&format!("CREATE TABLE t (id {key}, v {definition})")]);
            run_both(&mut connections, &[&format!("INSERT INTO t (id, v) VALUES (1, {one}), (2, {one})")]);
            let report = pair.compare(&Options::default());
            assert_eq!(shown(&report), [""; 0], "{definition}");
            run(&mut connections[1], &[&format!("UPDATE t SET v = {other} WHERE id = 2")]);
            let found = shown(&pair.compare(&Options::default()));
            let is_shown = found.len() == 1 && found[0].contains("only in the second: (id = '2'");
            assert!(is_shown, "{definition}: {one} and {other}: {found:?}");
        }
    }
}

#[test]
fn tables_are_split_by_keys_of_any_type() {
    // A key, its values from a number, and whether it can be used to split.
    let cases = [
        ("a INT PRIMARY KEY", "a", "CAST(seq AS SIGNED) - 20", true),
        ("a BIGINT UNSIGNED PRIMARY KEY", "a", "18446744073709551615 - seq", true),
        ("a DECIMAL(20, 5) PRIMARY KEY", "a", "seq / 7", true),
        ("a DATE PRIMARY KEY", "a", "'2000-01-01' + INTERVAL seq DAY", true),
        ("a DATETIME(3) PRIMARY KEY", "a", "'2000-01-01' + INTERVAL seq * 7777 MICROSECOND", true),
        ("a TIMESTAMP PRIMARY KEY", "a", "FROM_UNIXTIME(seq * 999999)", true),
        ("a TIME PRIMARY KEY", "a", "SEC_TO_TIME(CAST(seq AS SIGNED) * 100 - 2000)", true),
        ("a YEAR PRIMARY KEY", "a", "1990 + seq", true),
        ("a VARCHAR(20) PRIMARY KEY", "a", "CONCAT(CHAR(96 + seq % 20), _utf8mb4 X'c3a9', '''', seq)", true),
        (
            "a VARCHAR(20) CHARSET latin1 COLLATE latin1_german2_ci PRIMARY KEY",
            "a",
            "CONCAT(CHAR(200 + seq % 50), seq)",
            true,
        ),
        ("a CHAR(20) COLLATE utf8mb4_bin PRIMARY KEY", "a", "MD5(seq)", true),
        ("a VARCHAR(9) CHARSET sjis PRIMARY KEY", "a", "CONCAT(_sjis X'835c', seq)", true),
        ("a BINARY(16) PRIMARY KEY", "a", "UNHEX(MD5(seq))", true),
        ("a VARBINARY(20) PRIMARY KEY", "a", "IF(seq = 1, '', UNHEX(MD5(seq)))", true),
        ("a UUID PRIMARY KEY", "a", "CONCAT('00000000-0000-1000-8000-', LPAD(seq, 12, 0))", true),
        ("a INET6 PRIMARY KEY", "a", "CONCAT('::', seq)", true),
        ("a INT NOT NULL, UNIQUE KEY u (a)", "a", "seq", true),
        (
            "a INT, b VARCHAR(5), c DATE, PRIMARY KEY (a, b, c)",
            "a, b, c",
            "seq % 3, seq % 5, '2000-01-01' + INTERVAL seq DAY",
            true,
        ),
        ("a INT, UNIQUE KEY u (a)", "a", "seq", false),
        ("a TEXT, UNIQUE KEY u (a(10))", "a", "seq", false),
        ("a FLOAT PRIMARY KEY", "a", "seq / 3", false),
        ("a ENUM('z', 'b', 'a') PRIMARY KEY", "a", "1 + seq % 3", false),
        ("a BIT(20) PRIMARY KEY", "a", "seq", false),
        ("a INT, KEY k (a)", "a", "seq", false),
    ];
    let options = Options { threads: 2, range_rows: Some(6), ..Options::default() };
    let pair = pair();
    for (definition, columns, values, by_key) in cases {
        let mut connections = pair.fresh();
        run_both(
            &mut connections,
            &[
                &format!("CREATE TABLE t ({definition}, v INT)"),
                &format!("INSERT IGNORE INTO t ({columns}, v) SELECT {values}, seq FROM seq_1_to_40"),
            ],
        );
        let report = pair.compare(&options);
        assert_eq!(shown(&report), [""; 0], "{definition}");
        let table = &report.tables[0];
        let rows = table.rows[0];
        assert!(rows == 40 || definition.contains("ENUM"), "{definition}: {rows} rows");
        let ranges = if by_key { rows / 6 + 1 } else { 1 };
        assert_eq!((table.by_key, table.ranges), (by_key, ranges), "{definition}");
        // Each row is in one range: a change of any row is found once.
        for row in [1, 6, 7, 40] {
            run(&mut connections[1], &[&format!("UPDATE t SET v = -v WHERE v = {row}")]);
            let found = pair.compare(&options);
            let changed = u64::from(!definition.contains("ENUM") || row <= 3);
            assert_eq!(found.tables[0].differing_ranges, changed, "{definition}, row {row}: {:?}", shown(&found));
            assert_eq!(found.rows, [rows, rows], "{definition}");
            run(&mut connections[1], &[&format!("UPDATE t SET v = -v WHERE v = -{row}")]);
        }
    }
}

#[test]
fn keys_of_only_one_endpoint_are_not_used() {
    let pair = pair();
    let mut connections = pair.fresh();
    run(&mut connections[0], &["CREATE TABLE t (a VARCHAR(5) COLLATE utf8mb4_general_ci PRIMARY KEY)"]);
    run(&mut connections[1], &["CREATE TABLE t (a VARCHAR(5) COLLATE utf8mb4_bin PRIMARY KEY)"]);
    run_both(
        &mut connections,
        &["INSERT INTO t SELECT CONCAT(CHAR(65 + seq % 26 + 32 * (seq % 2)), seq) FROM seq_1_to_40"],
    );
    let options = Options { definitions: false, range_rows: Some(6), ..Options::default() };
    let report = pair.compare(&options);
    assert_eq!(shown(&report), [""; 0]);
    assert!(!report.tables[0].by_key);
}

#[test]
fn history_of_versioned_rows_is_compared_and_its_times_on_request() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(
        &mut connections,
        &[
            "CREATE TABLE t (x INT PRIMARY KEY) WITH SYSTEM VERSIONING",
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET x = 2",
        ],
    );
    let with_times = Options { row_times: true, ..Options::default() };
    assert_eq!(shown(&pair.compare(&Options::default())), [""; 0]);
    assert_eq!(shown(&pair.compare(&with_times)).len(), 1);
    run(&mut connections[1], &["UPDATE t SET x = 3", "UPDATE t SET x = 2"]);
    let found = shown(&pair.compare(&Options::default()));
    assert!(found.len() == 1 && found[0].contains("the first has 2 rows, the second 4"), "{found:?}");
}
