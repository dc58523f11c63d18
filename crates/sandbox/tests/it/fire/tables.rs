//! The tables of the clients, and the invariants of their content.

use hortator_mysql::Connection;

pub const ACCOUNTS: i64 = 20;
pub const BALANCE: i64 = 1000;
pub const TOTAL: i64 = ACCOUNTS * BALANCE;
pub const LISTS: i64 = 6;

/// Every row of a client has the client's number `c` and the transaction's number `n`.
pub const TRANSFERS: &str = "transfer";
pub const APPENDS: &str = "appended";
pub const ENTRIES: &str = "entry";

const TABLES: [&str; 8] = [
    "account (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
    "transfer (c INT, n BIGINT, source INT, target INT, amount BIGINT, PRIMARY KEY (c, n))",
    "list (k INT PRIMARY KEY, length BIGINT NOT NULL)",
    "appended (k INT, position BIGINT, c INT, n BIGINT, PRIMARY KEY (k, position), UNIQUE (c, n))",
    "entry (c INT, n BIGINT, PRIMARY KEY (c, n))",
    "history_list (k BIGINT PRIMARY KEY, v MEDIUMTEXT NOT NULL)",
    "history_register (k BIGINT PRIMARY KEY, v BIGINT NOT NULL)",
    "shape (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
];

/// All rows of a table in the order of its key, as one side of a comparison.
pub const ROWS: [&str; 10] = [
    "SELECT 'account', id, balance FROM account ORDER BY id",
    "SELECT 'transfer', c, n, source, target, amount FROM transfer ORDER BY c, n",
    "SELECT 'list', k, length FROM list ORDER BY k",
    "SELECT 'appended', k, position, c, n FROM appended ORDER BY k, position",
    "SELECT 'entry', c, n FROM entry ORDER BY c, n",
    "SELECT 'history_list', k, v FROM history_list ORDER BY k",
    "SELECT 'history_register', k, v FROM history_register ORDER BY k",
    // Not SHOW CREATE TABLE: each node has its own next AUTO_INCREMENT.
    "SELECT 'shape', COLUMN_NAME, COLUMN_TYPE, ORDINAL_POSITION FROM information_schema.COLUMNS \
     WHERE TABLE_SCHEMA = 'fire' AND TABLE_NAME = 'shape' ORDER BY ORDINAL_POSITION",
    "SELECT 'shape', INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS \
     WHERE TABLE_SCHEMA = 'fire' AND TABLE_NAME = 'shape' ORDER BY INDEX_NAME, COLUMN_NAME",
    "SELECT 'shape', s.* FROM shape s ORDER BY id",
];

/// Each query returns a number that must be zero.
pub const RULES: [(&str, &str); 3] = [
    ("the total has changed", "SELECT SUM(balance) - 20000 FROM account"),
    (
        "an account is not what its transfers make it",
        "SELECT COUNT(*) FROM account a WHERE balance <> 1000 \
         - (SELECT IFNULL(SUM(amount), 0) FROM transfer WHERE source = a.id) \
         + (SELECT IFNULL(SUM(amount), 0) FROM transfer WHERE target = a.id)",
    ),
    (
        "a list has holes, or is not as long as it says",
        "SELECT COUNT(*) FROM list l WHERE length <> (SELECT COUNT(*) FROM appended a WHERE a.k = l.k) \
         OR length <> (SELECT IFNULL(MAX(position), 0) FROM appended a WHERE a.k = l.k)",
    ),
];

/// Creates the tables in their initial state.
pub fn make(connection: &mut Connection) {
    let mut run =
        |sql: &str| connection.execute(sql.as_bytes()).map(drop).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("CREATE DATABASE fire");
    run("USE fire");
    TABLES.iter().for_each(|table| run(&format!("CREATE TABLE {table}")));
    (1..=ACCOUNTS).for_each(|id| run(&format!("INSERT INTO account VALUES ({id}, {BALANCE})")));
    (1..=LISTS).for_each(|k| run(&format!("INSERT INTO list VALUES ({k}, 0)")));
}
