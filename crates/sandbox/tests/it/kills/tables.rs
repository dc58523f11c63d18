//! The tables of the clients, their content as texts, and their invariants.

use hortator_mysql::Connection;

use super::journal::Rows;

pub const CLIENTS: usize = 16;
/// The client that counts, and the one that runs DDL; the others run a mix.
pub const COUNTING: usize = 14;
pub const DEFINING: usize = 15;
pub const ACCOUNTS: i64 = 8;
pub const BALANCE: i64 = 1000;

const TABLES: [&str; 11] = [
    "keyed (c INT, k BIGINT, v BIGINT, note VARCHAR(80) DEFAULT 'nothing', PRIMARY KEY (c, k), KEY (v))",
    "counted (id BIGINT AUTO_INCREMENT PRIMARY KEY, c INT, t BIGINT UNIQUE)",
    "pair_a (t BIGINT PRIMARY KEY, c INT)",
    "pair_b (t BIGINT PRIMARY KEY, c INT)",
    "account (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
    "ledger (t BIGINT PRIMARY KEY, c INT, source INT, target INT, amount BIGINT)",
    "parent (id BIGINT PRIMARY KEY, c INT)",
    "child (id BIGINT PRIMARY KEY, parent BIGINT NOT NULL, c INT, FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE)",
    "keyless (c INT, t BIGINT, filler VARCHAR(40))",
    "streamed (t BIGINT, n INT, c INT, PRIMARY KEY (t, n))",
    "counter (v BIGINT NOT NULL, id INT PRIMARY KEY)",
];

/// Each query returns a client's number and a row's text.
const READS: [&str; 10] = [
    "SELECT c, CONCAT('keyed|', k, '|', v) FROM keyed",
    "SELECT c, CONCAT('counted|', t) FROM counted",
    "SELECT c, CONCAT('pair_a|', t) FROM pair_a",
    "SELECT c, CONCAT('pair_b|', t) FROM pair_b",
    "SELECT c, CONCAT('ledger|', t, '|', source, '|', target, '|', amount) FROM ledger",
    "SELECT c, CONCAT('parent|', id) FROM parent",
    "SELECT c, CONCAT('child|', id, '|', parent) FROM child",
    "SELECT c, CONCAT('keyless|', t) FROM keyless",
    "SELECT c, CONCAT('streamed|', t, '|', n) FROM streamed",
    "SELECT 14, CONCAT('counter|', v) FROM counter",
];

/// Each query returns a number that must be zero.
const RULES: [(&str, &str); 4] = [
    ("the total has changed", "SELECT SUM(balance) - 8000 FROM account"),
    (
        "an account is not what its transfers make it",
        "SELECT COUNT(*) FROM account a WHERE balance <> 1000 \
         - (SELECT IFNULL(SUM(amount), 0) FROM ledger WHERE source = a.id) \
         + (SELECT IFNULL(SUM(amount), 0) FROM ledger WHERE target = a.id)",
    ),
    ("a child without a parent", "SELECT COUNT(*) FROM child LEFT JOIN parent p ON p.id = parent WHERE p.id IS NULL"),
    (
        "half a pair",
        "SELECT (SELECT COUNT(*) FROM pair_a WHERE t NOT IN (SELECT t FROM pair_b)) \
              + (SELECT COUNT(*) FROM pair_b WHERE t NOT IN (SELECT t FROM pair_a))",
    ),
];

/// Creates the tables in their initial state.
pub fn make(connection: &mut Connection) {
    // Without dropping the database: files of a DDL statement that was in progress at a kill may be left in its folder.
    connection.execute(b"CREATE DATABASE IF NOT EXISTS kills").unwrap();
    let tables = fetch(connection, "SHOW TABLES FROM kills").concat();
    let mut run =
        |sql: &str| connection.execute(sql.as_bytes()).map(drop).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("USE kills");
    run("SET foreign_key_checks = 0");
    tables.iter().for_each(|table| run(&format!("DROP TABLE {table}")));
    TABLES.iter().for_each(|table| run(&format!("CREATE TABLE {table}")));
    run("INSERT INTO counter VALUES (0, 1)");
    (1..=ACCOUNTS).for_each(|id| run(&format!("INSERT INTO account VALUES ({id}, {BALANCE})")));
}

/// The values of a statement's rows as text.
pub fn fetch(connection: &mut Connection, sql: &str) -> Vec<Vec<String>> {
    let rows = connection.fetch(sql.as_bytes()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = |value: Option<Vec<u8>>| value.map_or("NULL".to_owned(), |v| String::from_utf8_lossy(&v).into_owned());
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

pub fn number(connection: &mut Connection, sql: &str) -> i64 {
    fetch(connection, sql)[0][0].parse().unwrap_or_else(|_| panic!("{sql}: no number"))
}

/// The rows of each client.
pub fn read(connection: &mut Connection) -> Vec<Rows> {
    let mut rows = vec![Rows::new(); CLIENTS];
    for read in READS {
        for row in fetch(connection, read) {
            let client: usize = row[0].parse().unwrap();
            *rows[client].entry(row[1].clone()).or_insert(0) += 1;
        }
    }
    let defined = "SELECT TABLE_NAME, COUNT(*) FROM information_schema.COLUMNS \
                   WHERE TABLE_SCHEMA = 'kills' AND TABLE_NAME LIKE 'x\\_%' GROUP BY TABLE_NAME";
    for table in fetch(connection, defined) {
        let name = &table[0];
        rows[DEFINING].insert(format!("{name}|of {}", table[1]), 1);
        for row in fetch(connection, &format!("SELECT id FROM {name}")) {
            *rows[DEFINING].entry(format!("{name}|row|{}", row[0])).or_insert(0) += 1;
        }
    }
    rows
}

/// The violated invariants.
pub fn broken_rules(connection: &mut Connection) -> Vec<String> {
    let mut broken: Vec<String> =
        RULES.iter().filter(|(_, sql)| number(connection, sql) != 0).map(|(rule, _)| (*rule).to_owned()).collect();
    for table in fetch(connection, "SHOW TABLES").concat() {
        let told = fetch(connection, &format!("CHECK TABLE {table}"));
        broken.extend(told.into_iter().filter(|row| row[3] != "OK").map(|row| row.join(" ")));
    }
    broken
}
