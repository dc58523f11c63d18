//! Random statements on a MySQL server, followed by a MariaDB target: whatever the server takes, both have the same rows.
//!
//! `HORTATOR_SEED=n` names the first stream; `HORTATOR_STREAMS=n` says how many there are. A stream may have a statement that
//! MariaDB refuses and MySQL does not: such a one stops the source, and is no fault. So the usual streams are always the same.

use std::env;

use hortator_mysql::Connection;

use super::replicate::{assert_same, gtid_executed, pair, recorded};
use crate::random::Dice;
use crate::replicate::fan_in::{FanIn, texts};

/// Statements of a stream.
const STATEMENTS: usize = 400;
/// Tables at most.
const TABLES: u64 = 6;

/// Types, with values that they take.
const TYPES: &[(&str, &[&str])] = &[
    ("TINYINT", &["-128", "127", "0", "NULL"]),
    ("INT UNSIGNED", &["0", "4294967295", "NULL"]),
    ("BIGINT", &["-9223372036854775808", "9223372036854775807", "7", "NULL"]),
    ("BIGINT UNSIGNED", &["18446744073709551615", "0", "NULL"]),
    ("DECIMAL(30,10)", &["-12345678901234567890.0123456789", "0.1", "NULL"]),
    ("FLOAT", &["1.17549e-38", "-1.5", "16777217", "NULL"]),
    ("DOUBLE", &["1.7976931348623157e308", "0.1", "-2.5e-300", "NULL"]),
    ("BIT(13)", &["b'1010101010101'", "b'0'", "NULL"]),
    ("YEAR", &["1901", "2155", "0", "NULL"]),
    ("DATE", &["'1000-01-01'", "'9999-12-31'", "'2024-02-29'", "NULL"]),
    ("TIME(6)", &["'-838:59:59'", "'12:34:56.789012'", "'-00:00:00.000001'", "NULL"]),
    ("DATETIME(3)", &["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59.999'", "NOW(3)", "NULL"]),
    ("TIMESTAMP(6) NULL", &["'1970-01-02 00:00:01'", "'2038-01-18 03:14:07.999999'", "NOW(6)", "NULL"]),
    ("CHAR(20)", &["'ä€😀'", "'a '", "''", "NULL"]),
    ("VARCHAR(200)", &["REPEAT('😀', 60)", "'a'", "'A '", "''", "NULL"]),
    ("VARCHAR(300) CHARACTER SET latin1", &["REPEAT('ü', 280)", "'x'", "NULL"]),
    ("VARCHAR(40) CHARACTER SET utf16", &["'utf16 ä'", "''", "NULL"]),
    ("VARCHAR(40) COLLATE utf8mb4_0900_as_cs", &["'ä'", "'A'", "NULL"]),
    ("VARBINARY(60)", &["X'00FF00'", "''", "NULL"]),
    ("BINARY(8)", &["X'0001'", "'12345678'", "NULL"]),
    ("TEXT", &["REPEAT('text', 500)", "''", "NULL"]),
    ("MEDIUMTEXT CHARACTER SET utf8mb3", &["REPEAT('ß', 30000)", "'x'", "NULL"]),
    ("LONGBLOB", &["REPEAT(X'00', 70000)", "X'27225C00'", "NULL"]),
    ("ENUM('a','b','ö')", &["'ö'", "'a'", "NULL"]),
    ("SET('x','y','z')", &["'x,z'", "''", "NULL"]),
    (
        "JSON",
        &[
            "'{\"a\": [1, 2.5, \"ä\", null, true], \"b\": {\"c\": -7}, \"big\": 18446744073709551615}'",
            "JSON_OBJECT('d', 1e15, 'e', CAST(NOW(6) AS DATETIME(6)), 'f', CAST(1.50 AS DECIMAL(5,2)))",
            "'[]'",
            "CAST('null' AS JSON)",
            "NULL",
        ],
    ),
    ("GEOMETRY", &["ST_GEOMFROMTEXT('LINESTRING(0 0,1 1)')", "POINT(1, 2)", "NULL"]),
    ("INT INVISIBLE", &["5", "NULL"]),
    ("INT DEFAULT (7 + 1)", &["DEFAULT", "3", "NULL"]),
];

/// Settings of a session that change what stands in the log.
const SETTINGS: &[&str] = &[
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "SET SESSION binlog_row_image = 'NOBLOB'",
    "SET SESSION binlog_row_image = 'FULL'",
    "SET SESSION binlog_row_value_options = 'PARTIAL_JSON', binlog_row_image = 'FULL'",
    "SET SESSION binlog_row_value_options = ''",
    "SET SESSION binlog_transaction_compression = ON",
    "SET SESSION binlog_transaction_compression = OFF",
    "SET SESSION sql_mode = ''",
    "SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'",
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
    "SET SESSION time_zone = '+03:00'",
    "SET SESSION time_zone = '-11:30'",
    "SET SESSION foreign_key_checks = 0",
    "SET SESSION foreign_key_checks = 1",
    "SET SESSION unique_checks = 0",
    "SET SESSION collation_connection = utf8mb4_0900_bin",
    "SET SESSION default_collation_for_utf8mb4 = utf8mb4_general_ci",
    "SET SESSION explicit_defaults_for_timestamp = 1",
    "SET SESSION sql_generate_invisible_primary_key = 1",
    "SET SESSION sql_generate_invisible_primary_key = 0",
    "SET SESSION auto_increment_increment = 3, auto_increment_offset = 2",
    "SET SESSION auto_increment_increment = 1, auto_increment_offset = 1",
    "SET SESSION insert_id = 700",
    "SET timestamp = 1700000000.25",
    "SET timestamp = DEFAULT",
    "FLUSH BINARY LOGS",
    "SET gtid_next = 'AUTOMATIC:tagged'",
    "SET gtid_next = 'AUTOMATIC'",
];

/// A table that is there, and the numbers of its columns that have a type of [`TYPES`].
type Known = (String, Vec<usize>);

struct Stream {
    dice: Dice,
    /// A transaction is open.
    is_open: bool,
    known: Vec<Known>,
}

impl Stream {
    fn one<'c>(&mut self, of: &[&'c str]) -> &'c str {
        of[self.dice.below(of.len() as u64) as usize]
    }

    fn number(&mut self) -> u64 {
        self.dice.below(40)
    }

    fn table(&mut self) -> String {
        format!("d.t{}", self.dice.below(TABLES))
    }

    fn type_of(&mut self) -> (&'static str, &'static [&'static str]) {
        TYPES[self.dice.below(TYPES.len() as u64) as usize]
    }

    /// A column's number is that of its type, so that values fit.
    fn column(&mut self) -> (usize, &'static str, &'static str) {
        let number = self.dice.below(TYPES.len() as u64) as usize;
        let (data_type, values) = TYPES[number];
        (number, data_type, self.one(values))
    }

    fn create(&mut self) -> String {
        let columns: Vec<String> = (0..1 + self.dice.below(9))
            .map(|_| {
                let (number, data_type, _) = self.column();
                format!("c{number} {data_type}")
            })
            .collect();
        let key = self.one(&[
            "id INT PRIMARY KEY",
            "id INT AUTO_INCREMENT PRIMARY KEY",
            "id INT, KEY (id)",
            "id INT NOT NULL, u INT, PRIMARY KEY (id), UNIQUE KEY (u)",
            "id INT, k VARCHAR(30) DEFAULT 'k', PRIMARY KEY (id, k)",
            "id INT, g INT AS (id * 2) VIRTUAL, s INT AS (id + 1) STORED, PRIMARY KEY (id), KEY (g)",
        ]);
        let options = self.one(&[
            "",
            "",
            "CHARSET = utf8mb4",
            "CHARSET = latin1",
            "ROW_FORMAT = COMPRESSED",
            "PARTITION BY HASH (id) PARTITIONS 3",
            "ENGINE = MyISAM",
            "COLLATE = utf8mb4_unicode_520_ci COMMENT 'it''s'",
        ]);
        let mut seen: Vec<String> = Vec::new();
        for column in columns {
            if !seen.contains(&column) {
                seen.push(column);
            }
        }
        let check = self.one(&["", "", ", CHECK (id < 1000000)"]);
        format!("CREATE TABLE IF NOT EXISTS {} ({key}, {}{check}) {options}", self.table(), seen.join(", "))
    }

    fn alter(&mut self) -> String {
        let table = self.table();
        let (number, data_type, _) = self.column();
        let (other, _) = self.type_of();
        let n = self.number();
        let change = match self.dice.below(14) {
            0 | 1 => format!("ADD COLUMN c{number} {data_type}"),
            2 => format!("ADD COLUMN c{number} {data_type} FIRST, ALGORITHM = INSTANT"),
            3 => format!("DROP COLUMN c{number}"),
            4 => format!("MODIFY COLUMN c{number} {other}"),
            5 => format!("RENAME COLUMN c{number} TO x{number}"),
            6 => format!("ADD INDEX i{n} (c{number})"),
            7 => format!("ADD UNIQUE INDEX u{n} (id, c{number})"),
            8 => format!("DROP INDEX i{n}"),
            9 => format!("ALTER INDEX i{n} INVISIBLE"),
            10 => "CONVERT TO CHARACTER SET utf8mb4".to_owned(),
            11 => "ENGINE = InnoDB, FORCE".to_owned(),
            12 => format!("RENAME TO d.t{}", self.dice.below(TABLES)),
            _ => format!("ALTER COLUMN c{number} SET DEFAULT NULL, COMMENT = 'c{n}'"),
        };
        format!("ALTER TABLE {table} {change}")
    }

    fn statement(&mut self) -> String {
        let (mut table, n) = (self.table(), self.number());
        let (mut number, _, mut value) = self.column();
        if !self.known.is_empty() && self.dice.below(8) > 0 {
            let (name, columns) = self.known[self.dice.below(self.known.len() as u64) as usize].clone();
            table = format!("d.{name}");
            if !columns.is_empty() {
                number = columns[self.dice.below(columns.len() as u64) as usize];
                value = self.one(TYPES[number].1);
            }
        }
        match self.dice.below(24) {
            0 | 1 if !self.is_open => self.create(),
            2 if !self.is_open => self.alter(),
            3 if !self.is_open && self.dice.below(6) == 0 => format!("TRUNCATE TABLE {table}"),
            3 if !self.is_open && self.dice.below(6) == 0 => format!("DROP TABLE IF EXISTS {table}, d.none"),
            4 if !self.is_open => self.one(SETTINGS).to_owned(),
            5 if !self.is_open => {
                self.is_open = true;
                "START TRANSACTION".to_owned()
            }
            5 | 6 if self.is_open => {
                self.is_open = false;
                self.one(&["COMMIT", "COMMIT", "ROLLBACK"]).to_owned()
            }
            7 if self.is_open => self.one(&["SAVEPOINT s", "ROLLBACK TO s"]).to_owned(),
            8 => format!("DELETE FROM {table} WHERE id = {n}"),
            9 => format!("DELETE FROM {table} ORDER BY id LIMIT 2"),
            10 => format!("UPDATE {table} SET c{number} = {value} WHERE id BETWEEN {n} AND {}", n + 9),
            11 => format!("UPDATE {table} SET id = id + {} WHERE id = {n}", 40 + n),
            12 => format!(
                "UPDATE {table} SET c25 = JSON_SET(c25, '$.a[0]', {n}, '$.b', JSON_ARRAY({n}, 'x')) WHERE id < {n}"
            ),
            13 => format!("UPDATE {table} SET c25 = JSON_REMOVE(c25, '$.b', '$.a[1]'), id = id WHERE id > {n}"),
            14 => format!("REPLACE INTO {table} (id, c{number}) VALUES ({n}, {value})"),
            15 => {
                format!(
                    "INSERT INTO {table} (id, c{number}) VALUES ({n}, {value}) ON DUPLICATE KEY UPDATE c{number} = {value}"
                )
            }
            16 if !self.is_open && self.dice.below(4) == 0 => {
                format!("CREATE TABLE d.t{} AS SELECT * FROM {table}", self.dice.below(TABLES))
            }
            16 if !self.is_open && self.dice.below(4) == 0 => {
                format!("CREATE TABLE d.t{} LIKE {table}", self.dice.below(TABLES))
            }
            17 if !self.is_open && self.dice.below(8) == 0 => {
                format!("CREATE OR REPLACE VIEW d.v{n} AS SELECT id FROM {table}")
            }
            18 => {
                format!("INSERT IGNORE INTO {table} (id) SELECT * FROM (SELECT id + 1 FROM {table} LIMIT 50) AS x")
            }
            _ => format!("INSERT INTO {table} (id, c{number}) VALUES ({n}, {value}), ({}, {value})", n + 1),
        }
    }
}

/// Tables of both, or of one of them.
fn tables(fan_in: &FanIn) -> [Vec<String>; 2] {
    let query = "SELECT CONCAT('d.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_TYPE = \
                 'BASE TABLE' ORDER BY 1";
    [&fan_in.sources[0], &fan_in.target].map(|server| texts(server, query).concat())
}

/// Tables with the columns that values are known for.
fn known(connection: &mut Connection) -> Vec<Known> {
    let query = b"SELECT TABLE_NAME, GROUP_CONCAT(IF(COLUMN_NAME REGEXP '^c[0-9]+$', SUBSTR(COLUMN_NAME, 2), '')) \
        FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME LIKE 't%' GROUP BY TABLE_NAME";
    let rows = connection.fetch(query).unwrap();
    let text = |value: Option<Vec<u8>>| String::from_utf8(value.unwrap_or_default()).unwrap();
    let numbers = |list: &str| list.split(',').filter_map(|number| number.parse().ok()).collect();
    let known = rows.into_iter().map(|row| {
        let [table, columns] = <[Option<Vec<u8>>; 2]>::try_from(row).unwrap().map(text);
        (table, numbers(&columns))
    });
    known.collect()
}

fn stream(seed: u64) {
    eprintln!("HORTATOR_SEED={seed}");
    let fan_in = pair(&[("max_allowed_packet", "16M")]);
    let agent = fan_in.start();
    let mut stream = Stream { dice: Dice::new(seed), is_open: false, known: Vec::new() };
    let mut catalog = fan_in.sources[0].node(0).connect().unwrap();
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    connection.execute(b"CREATE DATABASE d").unwrap();
    let mut taken = 0;
    for _ in 0..STATEMENTS {
        let statement = stream.statement();
        // What the server does not take is not in its log.
        if connection.execute(statement.as_bytes()).is_ok() {
            taken += 1;
            if ["CREATE", "ALTER", "DROP"].iter().any(|verb| statement.starts_with(verb)) {
                stream.known = known(&mut catalog);
            }
        }
    }
    let _ = connection.execute(b"COMMIT");
    let (shown, code) = fan_in.says("wait --caught-up --timeout 120");
    assert_eq!(code, Some(0), "seed {seed}: {shown}");
    assert!(taken > STATEMENTS / 4, "{taken} of {STATEMENTS} statements were taken");
    let [of_source, of_target] = tables(&fan_in);
    assert_eq!(of_source, of_target, "seed {seed}");
    assert_same(&fan_in, &of_source.iter().map(String::as_str).collect::<Vec<&str>>());
    assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[0]));
    drop(agent);
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn random_statements_of_mysql() {
    let read = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = read("HORTATOR_SEED").unwrap_or(1);
    for seed in first..first + read("HORTATOR_STREAMS").unwrap_or(3) {
        stream(seed);
    }
}
