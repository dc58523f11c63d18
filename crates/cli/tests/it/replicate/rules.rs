//! Rules: tables of other names, merged tables, tables and changes that are left out, loops.

use super::fan_in::{FanIn, run, texts};
use super::line_of;

/// Servers, and a configuration in which all sources have the same rules.
pub(super) fn with_rules(sources: usize, of_target: &[(&str, &str)], rules: &str) -> FanIn {
    let mut fan_in = FanIn::new(sources, of_target);
    let table = |index: usize| {
        let socket = fan_in.socket(index);
        format!(
            "[[source]]\nname = \"s{0}\"\nsocket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n{1}",
            index + 1,
            rules.replace("SHOP", &format!("shop{}", index + 1))
        )
    };
    let text = fan_in.target_table() + &(0..sources).map(table).collect::<String>();
    fan_in.write(&text);
    fan_in
}

pub(super) fn write(fan_in: &FanIn, source: usize, statements: &[&str]) {
    run(&fan_in.sources[source], statements);
}

pub(super) fn stops_with(fan_in: &FanIn, source: &str, said: &str) {
    fan_in.wait_until("it to stop", |shown| line_of(shown, source).contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains(said), "{said}: {shown}");
}

pub(super) fn says_ok(fan_in: &FanIn, line: &str) {
    let (shown, code) = fan_in.says(line);
    assert_eq!(code, Some(0), "{line}: {shown}");
}

/// The same query on a source and, with other names, on the target.
pub(super) fn assert_same(fan_in: &FanIn, source: usize, of_source: &str, of_target: &str) {
    let expected = texts(&fan_in.sources[source], of_source);
    assert_eq!(texts(&fan_in.target, of_target), expected, "{of_target} after {of_source}");
}

const SHOP: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50)) ENGINE=InnoDB",
    "CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, customer INT, total DECIMAL(10,2), \
     FOREIGN KEY (customer) REFERENCES customers (id)) ENGINE=InnoDB",
    "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100)) ENGINE=InnoDB",
    "CREATE TRIGGER ordered AFTER INSERT ON orders FOR EACH ROW UPDATE customers SET name = CONCAT(name, '!') \
     WHERE id = NEW.customer",
    "CREATE VIEW sums AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer",
    "INSERT INTO customers (name) VALUES ('ä'), ('b'), ('c')",
    "BEGIN",
    "INSERT INTO log (text) VALUES ('a statement of its own')",
    "INSERT INTO orders (customer, total) VALUES (1, 10.50), (2, 3), (1, 0.01)",
    "INSERT INTO log (text) VALUES ('and another')",
    "COMMIT",
    // Both tables in one statement, the one that is left out last in the log.
    "UPDATE orders o JOIN log l ON l.id = o.id SET o.total = o.total + 1, l.text = 'joined'",
    "UPDATE log l JOIN orders o ON l.id = o.id SET o.total = o.total + 1, l.text = 'joined again'",
    "DELETE FROM orders WHERE id = 2",
    "ALTER TABLE orders ADD COLUMN note TEXT FIRST, ADD INDEX (total)",
    "UPDATE orders SET note = 'noted'",
    "CREATE TABLE visits (id INT PRIMARY KEY) ENGINE=InnoDB",
    "RENAME TABLE visits TO clients",
    "INSERT INTO clients VALUES (1), (2)",
    "DROP TABLE log",
    "TRUNCATE TABLE orders",
    "INSERT INTO orders (customer, total) VALUES (3, 7)",
];

/// All tables of `shop` into one schema, with the source's name in each row.
pub const MERGE: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\nsource_column = \"shard\"\n";

/// Runs statements on a source, and waits for the target.
pub fn write_and_wait(fan_in: &FanIn, source: usize, statements: &[&str]) {
    write(fan_in, source, statements);
    fan_in.catch_up();
}

/// Passes the statement over that has stopped a source.
pub fn skip(fan_in: &FanIn, source: &str) {
    says_ok(fan_in, &format!("skip {source}"));
    fan_in.wait_until("it to go on", |shown| !line_of(shown, source).contains("stopped"));
}

#[test]
fn schemas_with_other_names() {
    let rules =
        "[[source.rule]]\nmatch = \"shop.log\"\nskip = true\n[[source.rule]]\nmatch = \"shop.*\"\nto = \"SHOP.*\"\n";
    let fan_in = with_rules(2, &[], rules);
    let _agent = fan_in.start();
    for source in 0..2 {
        write(&fan_in, source, SHOP);
    }
    fan_in.catch_up();
    for source in 0..2 {
        for table in ["orders", "customers", "clients", "sums"] {
            let query = |schema: &str| format!("SELECT * FROM {schema}.{table} ORDER BY 1");
            assert_same(&fan_in, source, &query("shop"), &query(&format!("shop{}", source + 1)));
        }
    }
    let found = texts(&fan_in.target, "SELECT 1 FROM information_schema.TABLES WHERE TABLE_NAME = 'log'");
    assert!(found.is_empty(), "what is left out is not there");
    // What names a table that is left out is refused, and then passed over.
    write(&fan_in, 0, &["USE shop", "CREATE TABLE log (id INT)", "CREATE VIEW logged AS SELECT * FROM shop.log"]);
    stops_with(&fan_in, "s1", "it may name shop.log");
    says_ok(&fan_in, "skip s1");
    fan_in.wait_until("it to run", |shown| line_of(shown, "s1").contains("running"));
    write(&fan_in, 0, &["DROP DATABASE shop"]);
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SHOW DATABASES LIKE 'shop%'"), [["shop2"]]);
}

/// Values of all types, and a row with as many NULLs as it can have.
pub(super) const TYPES: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE t (id INT NOT NULL, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT UNSIGNED, e FLOAT, f DOUBLE, \
     g DECIMAL(30,10), h DECIMAL(5,0), i BIT(1), j BIT(17), k DATE, l TIME, m TIME(3), n DATETIME, o DATETIME(6), \
     p TIMESTAMP NULL, q TIMESTAMP(1) NULL, r YEAR, s CHAR(10), t CHAR(200) CHARACTER SET utf8mb4, u VARCHAR(10), \
     v VARCHAR(2000), w BINARY(5), x VARBINARY(300), y TINYTEXT, z MEDIUMBLOB, aa LONGTEXT, ab ENUM('x','y'), \
     ac SET('p','q','r'), ad JSON, ae POINT, af INET6, ag UUID, ah INT AS (id * 2) VIRTUAL, ai INT AS (id * 3) STORED, \
     aj INT INVISIBLE DEFAULT 5, ak TEXT COMPRESSED, al VARCHAR(500) COMPRESSED, PRIMARY KEY (id), UNIQUE KEY (u, a)) \
     ENGINE=InnoDB",
    "INSERT INTO t (id) VALUES (1)",
    "INSERT INTO t (id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af, \
     ag, ak, al) VALUES (2, -1, 65535, -8388608, 18446744073709551615, 1.5, 1e300, -12345678901234567890.0123456789, 99999, \
     b'1', b'10101010101010101', '2024-02-29', '-838:59:59', '12:34:56.789', '1000-01-01 00:00:00', \
     '9999-12-31 23:59:59.999999', '2024-01-01 00:00:00', '2024-01-01 00:00:00.5', 2155, 'char', '😀', 'ä', \
     REPEAT('long', 400), 'bin', X'00FF00', 'tiny', REPEAT(X'00', 70000), REPEAT('x', 100), 'y', 'p,r', '{\"a\": 1}', \
     POINT(1, 2), '::1', '123e4567-e89b-12d3-a456-426614174000', REPEAT('c', 1000), REPEAT('d', 400))",
    "INSERT INTO t (id, u, aj) SELECT seq, seq, seq FROM seq_10_to_500",
    "UPDATE t SET v = REPEAT('v', id), aj = NULL WHERE id % 2 = 0",
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "UPDATE t SET s = 'minimal' WHERE id < 100",
    "DELETE FROM t WHERE id BETWEEN 200 AND 300",
    "SET SESSION binlog_row_image = 'NOBLOB'",
    "UPDATE t SET a = 7, u = CONCAT('u', id) WHERE id > 300",
    "SET SESSION binlog_row_image = 'FULL'",
    "CREATE TABLE no_key (v VARCHAR(20))",
    "INSERT INTO no_key VALUES ('same'), ('same'), ('other')",
    "DELETE FROM no_key WHERE v = 'same' LIMIT 1",
];

#[test]
fn tables_that_become_one_with_a_source_column() {
    let fan_in = with_rules(3, &[], MERGE);
    let _agent = fan_in.start();
    for source in 0..3 {
        if source == 1 {
            write(&fan_in, source, &["SET GLOBAL log_bin_compress = ON, binlog_row_metadata = FULL"]);
        }
        write(&fan_in, source, TYPES);
        write(&fan_in, source, &[&format!("UPDATE shop.t SET a = {source} WHERE id = 2")]);
    }
    fan_in.catch_up();
    let columns = "id, a, b, c, d, HEX(e), HEX(f), g, h, HEX(i), HEX(j), k, l, m, n, o, p, q, r, s, t, u, v, HEX(w), HEX(x), \
                   y, MD5(z), aa, ab, ac, ad, HEX(ae), af, ag, ah, ai, aj, MD5(ak), MD5(al)";
    for source in 0..3 {
        let of = |schema: &str, condition: &str| format!("SELECT {columns} FROM {schema}.t {condition} ORDER BY id");
        let condition = format!("WHERE shard = 's{}'", source + 1);
        assert_same(&fan_in, source, &of("shop", ""), &of("everything", &condition));
        let keyless = |schema: &str, condition: &str| format!("SELECT v FROM {schema}.no_key {condition} ORDER BY v");
        assert_same(&fan_in, source, &keyless("shop", ""), &keyless("everything", &condition));
    }
    let key = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS \
               WHERE TABLE_SCHEMA = 'everything' AND TABLE_NAME = 't' GROUP BY INDEX_NAME ORDER BY 1";
    assert_eq!(texts(&fan_in.target, key), [["id,shard"], ["u,a,shard"]]);

    // A new column of one source is one of all; the source column is not the last one then.
    write(&fan_in, 0, &["ALTER TABLE shop.no_key ADD COLUMN n INT DEFAULT 1"]);
    fan_in.catch_up();
    write(
        &fan_in,
        1,
        &["ALTER TABLE shop.no_key ADD COLUMN n INT DEFAULT 1", "INSERT INTO shop.no_key VALUES ('new', 2)"],
    );
    stops_with(&fan_in, "s2", "Duplicate column name 'n'");
    says_ok(&fan_in, "skip s2");
    fan_in.wait_until("it to run", |shown| line_of(shown, "s2").contains("running"));
    write(&fan_in, 2, &["INSERT INTO shop.no_key VALUES ('behind')", "TRUNCATE TABLE shop.no_key"]);
    write(&fan_in, 0, &["UPDATE shop.no_key SET n = 9 WHERE v = 'other'"]);
    fan_in.catch_up();
    let all = "SELECT shard, v, n FROM everything.no_key ORDER BY shard, v";
    let row = |shard: &str, v: &str, n: &str| vec![shard.to_owned(), v.to_owned(), n.to_owned()];
    let expected = [
        row("s1", "other", "9"),
        row("s1", "same", "1"),
        row("s2", "new", "2"),
        row("s2", "other", "1"),
        row("s2", "same", "1"),
    ];
    assert_eq!(texts(&fan_in.target, all), expected);
    write(&fan_in, 1, &["DROP TABLE shop.no_key"]);
    stops_with(&fan_in, "s2", "it would take the rows of other sources in everything.no_key too");
    let (shown, _) = fan_in.says("check");
    assert!(!shown.contains("that several sources have"), "{shown}");
}

#[test]
fn merged_tables_without_a_source_column() {
    let rules = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\nskip_events = [\"delete\", \"drop\"]\n";
    let fan_in = with_rules(2, &[], rules);
    let _agent = fan_in.start();
    write(
        &fan_in,
        0,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO shop.t VALUES (1, 1)",
        ],
    );
    fan_in.catch_up();
    write(
        &fan_in,
        1,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO shop.t VALUES (2, 2)",
        ],
    );
    write(&fan_in, 1, &["INSERT INTO shop.t VALUES (3, 3)", "DELETE FROM shop.t", "CREATE TABLE shop.u (id INT)"]);
    fan_in.catch_up();
    let rows = "SELECT id, v FROM everything.t ORDER BY id";
    let row = |id: &str| vec![id.to_owned(), id.to_owned()];
    assert_eq!(texts(&fan_in.target, rows), [row("1"), row("2"), row("3")]);
    // Keys that overlap.
    write(&fan_in, 0, &["INSERT INTO shop.t VALUES (2, 9)"]);
    stops_with(&fan_in, "s1", "Duplicate entry '2'");
    says_ok(&fan_in, "skip s1");
    fan_in.wait_until("it to run", |shown| line_of(shown, "s1").contains("running"));
    // Definitions that differ: both are shown, and there are three ways out.
    write(
        &fan_in,
        0,
        &["CREATE TABLE shop.u (id INT, more TEXT) COMMENT='of s1'", "INSERT INTO shop.u VALUES (1, 'x')"],
    );
    stops_with(&fan_in, "s1", "has everything.u with another definition");
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("COMMENT='of s1'") && shown.contains("the target's:"), "{shown}");
    says_ok(&fan_in, "skip s1");
    // Its rows do not fit then.
    stops_with(&fan_in, "s1", "the source's table has 2 columns, and everything.u on the target has 1");
    run(&fan_in.target, &["ALTER TABLE everything.u ADD COLUMN more TEXT"]);
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id, more FROM everything.u"), [["1", "x"]]);
    assert!(texts(&fan_in.target, "SHOW TABLES FROM hortator LIKE 'replicate_new%'").is_empty());
    let (shown, _) = fan_in.says("check");
    assert!(shown.contains("tables that several sources have") && shown.contains("everything.t (s1, s2)"), "{shown}");
}

#[test]
fn two_servers_that_replicate_each_other() {
    let logs = [("log_bin", "bin"), ("binlog_format", "ROW")];
    let mut there = FanIn::new(1, &logs);
    run(&there.target, &["SET GLOBAL server_id = 7777"]);
    let source_id = texts(&there.sources[0], "SELECT @@server_id")[0][0].clone();
    let there_text = std::fs::read_to_string(there.file()).unwrap();
    there.write(&format!("{there_text}ignore_server_ids = [7777]\n"));
    let mut back = FanIn::new(0, &[]);
    let socket = |server: &hortator_sandbox::Temporary| server.node(0).socket().display().to_string();
    back.write(&format!(
        "[target]\nsocket = \"{}\"\nuser = \"root\"\n[[source]]\nname = \"back\"\nsocket = \"{}\"\nuser = \"root\"\n\
         start = \"now\"\nignore_server_ids = [{source_id}]\n",
        socket(&there.sources[0]),
        socket(&there.target)
    ));
    let _agents = (there.start(), back.start());
    let both = |there: &FanIn, back: &FanIn| {
        // A row may be on its way back.
        there.catch_up();
        back.catch_up();
        there.catch_up();
    };
    run(
        &there.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 1)"],
    );
    both(&there, &back);
    run(
        &there.target,
        &["INSERT INTO d.t VALUES (2, 2)", "UPDATE d.t SET v = v + 10", "ALTER TABLE d.t ADD COLUMN w INT"],
    );
    both(&there, &back);
    run(
        &there.sources[0],
        &[
            "DELETE FROM d.t WHERE id = 1",
            "CREATE TABLE d.large (v LONGTEXT)",
            "INSERT INTO d.large SELECT REPEAT('x', 1000000) FROM d.seq_1_to_8",
        ],
    );
    both(&there, &back);
    for server in [&there.sources[0], &there.target] {
        assert_eq!(texts(server, "SELECT * FROM d.t"), [["2", "12", ""]]);
        assert_eq!(texts(server, "SELECT COUNT(*) FROM d.large"), [["8"]]);
    }
    for (fan_in, source) in [(&there, "s1"), (&back, "back")] {
        let (shown, _) = fan_in.says("status");
        assert!(line_of(&shown, source).contains("running"), "{shown}");
    }
}

#[test]
fn errors_that_are_ignored() {
    let mut fan_in = FanIn::new(1, &[]);
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[[source]]", "ignore_errors = [1062, 1050]\n[[source]]"));
    let agent = fan_in.start();
    write(&fan_in, 0, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    fan_in.catch_up();
    run(&fan_in.target, &["INSERT INTO d.t VALUES (2, 0)", "CREATE TABLE d.u (id INT)"]);
    let transaction = ["BEGIN", "INSERT INTO d.t VALUES (3, 3)", "INSERT INTO d.t VALUES (2, 2)", "COMMIT"];
    write(&fan_in, 0, &["INSERT INTO d.t VALUES (1, 1)"]);
    write(&fan_in, 0, &transaction);
    write(
        &fan_in,
        0,
        &["INSERT INTO d.t VALUES (4, 4)", "CREATE TABLE d.u (id INT, v INT)", "INSERT INTO d.t VALUES (5, 5)"],
    );
    fan_in.catch_up();
    let row = |id: &str, v: &str| vec![id.to_owned(), v.to_owned()];
    // The whole transaction is passed over, not one row of it.
    let expected = [row("1", "1"), row("2", "0"), row("4", "4"), row("5", "5")];
    assert_eq!(texts(&fan_in.target, "SELECT * FROM d.t ORDER BY id"), expected);
    fan_in.wait_until("the count", |_| fan_in.says("status --json").0.contains("\"passed_over\":2"));
    // Another error stops the source.
    write(&fan_in, 0, &["DELETE FROM d.t WHERE id = 3"]);
    stops_with(&fan_in, "s1", "Can't find record in 't'");
    says_ok(&fan_in, "stop");
    let (log, _) = agent.end();
    assert!(log.contains("s1: passed over: ") && log.contains("Duplicate entry '2'"), "{log}");
    fan_in.write(&text.replace("[[source]]", "ignore_errors = [1213]\n[[source]]"));
    let (shown, code) = fan_in.says("run");
    assert!(code == Some(1) && shown.contains("1213 passes by itself"), "{shown}");
}

#[test]
fn rules_that_are_wrong() {
    let mut fan_in = FanIn::new(0, &[]);
    for (rule, said) in [
        ("match = \"shop\"", "the rule for shop, `match`: `shop`: give SCHEMA.TABLE"),
        ("match = \"a.*\"\nto = \"b\"", "`to`: `b`: give SCHEMA.TABLE"),
        ("match = \"a.b\"\nto = \"c.*\"", "it would stand for nothing"),
        ("match = \"a.*\"\nskip = true\nto = \"b.*\"", "has no other key than `match`"),
        ("match = \"a.*\"\nskip_events = [\"erase\"]", "`erase` is no kind of change: give some of insert, update"),
        ("match = \"a.*\"\nsource_column = \"s\"", "a source column is for tables that are merged"),
        ("match = \"a.*\"\nrename = \"s\"", "unknown field `rename`"),
    ] {
        fan_in.write(&format!("[target]\n[[source]]\nname = \"a\"\nstart = \"now\"\n[[source.rule]]\n{rule}\n"));
        let (shown, code) = fan_in.says("check");
        assert!(code == Some(1) && shown.contains(said), "{rule}: {shown}");
    }
}
