//! Two servers that have one object of each kind, and one difference.

use hortator_check::compare::{Error, Options, Progress, Which, compare};

use crate::pair::{SCHEMA, pair, run_both, shown};
use crate::run;

/// One object of each kind.
const EVERYTHING: [&str; 14] = [
    "CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, KEY by_name (name))",
    "CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id))",
    "CREATE TABLE keyless (word VARCHAR(10), number INT)",
    "CREATE TABLE old (id INT PRIMARY KEY) ENGINE=MyISAM",
    "CREATE SEQUENCE numbers START WITH 7",
    "CREATE VIEW names AS SELECT name FROM parent",
    "CREATE PROCEDURE nothing() SELECT 1",
    "CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1",
    "CREATE TRIGGER before_child BEFORE INSERT ON child FOR EACH ROW SET NEW.parent = NEW.parent",
    "CREATE EVENT later ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DISABLE DO SELECT 1",
    "INSERT INTO parent (name) SELECT CONCAT('name', seq) FROM seq_1_to_25",
    "INSERT INTO child SELECT seq, seq FROM seq_1_to_20",
    "INSERT INTO keyless VALUES ('a', 1), ('a', 1), ('b', NULL)",
    "INSERT INTO old VALUES (1), (2)",
];

fn options() -> Options {
    Options { threads: 3, range_rows: Some(7), ..Options::default() }
}

#[test]
fn the_same_is_the_same() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &EVERYTHING);
    // The rows at the other endpoint have another order.
    run(&mut connections[1], &["TRUNCATE keyless", "INSERT INTO keyless VALUES ('b', NULL), ('a', 1), ('a', 1)"]);
    let report = pair.compare(&options());
    assert_eq!(shown(&report), [""; 0]);
    assert!(report.same);
    assert_eq!(report.rows, [51, 51]);
    let tables: Vec<_> = report.tables.iter().map(|table| (table.table.as_str(), table.by_key, table.ranges)).collect();
    let expected = [
        ("shop.child", true, 3),
        ("shop.keyless", false, 1),
        ("shop.numbers", false, 1),
        ("shop.old", true, 1),
        ("shop.parent", true, 4),
    ];
    assert_eq!(tables, expected);
    let kinds: Vec<_> = report.definitions.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let expected = "database 1, event 1, function 1, procedure 1, sequence 1, table 4, trigger 1, view 1";
    assert_eq!(kinds.join(", "), expected);
    let engines: Vec<_> = report.remarks.iter().filter(|remark| remark.contains("MyISAM")).collect();
    assert_eq!(engines, ["MyISAM tables have no snapshot, their current rows were read: shop.old"]);
}

#[test]
fn each_difference_is_reported() {
    // The change at the second endpoint, and the reported difference.
    let cases: &[(&str, &[&str])] = &[
        ("ALTER DATABASE shop CHARSET latin1", &["database shop: Create Database differs"]),
        ("CREATE TABLE more (x INT)", &["table shop.more: only the second has it"]),
        (
            "SET foreign_key_checks = 0; DROP TABLE child",
            &["table shop.child: only the first has it", "trigger shop.before_child: only the first has it"],
        ),
        (
            "ALTER TABLE parent DROP KEY by_name",
            &["table shop.parent: Create Table differs\n  only in the first:  KEY `by_name` (`name`)"],
        ),
        ("DROP TRIGGER before_child", &["trigger shop.before_child: only the first has it"]),
        ("DROP VIEW names", &["view shop.names: only the first has it"]),
        ("CREATE OR REPLACE VIEW names AS SELECT id FROM parent", &["view shop.names: Create View differs"]),
        ("DROP PROCEDURE nothing", &["procedure shop.nothing: only the first has it"]),
        ("DROP FUNCTION one", &["function shop.one: only the first has it"]),
        ("DROP EVENT later", &["event shop.later: only the first has it"]),
        ("ALTER EVENT later ENABLE", &["event shop.later: Create Event differs"]),
        ("ALTER TABLE parent AUTO_INCREMENT = 50", &["table shop.parent: Create Table differs", "AUTO_INCREMENT=50"]),
        ("DO NEXTVAL(numbers)", &["rows of shop.numbers: the first has 1 rows, the second 1"]),
        (
            "DELETE FROM child WHERE id = 8",
            &["rows of shop.child: the first has 20 rows, the second 19; 1 of 3 ranges of the key differ; \
                 first differing rows:\n  only in the first:  (id = '8', parent = '8')"],
        ),
        ("INSERT INTO child VALUES (99, NULL)", &["only in the second: (id = '99', parent = NULL)"]),
        ("INSERT INTO child VALUES (-5, 1)", &["only in the second: (id = '-5', parent = '1')"]),
        (
            "UPDATE child SET parent = 1 WHERE id IN (3, 9, 17, 20)",
            &[
                "3 of 3 ranges of the key differ",
                "only in the first:  (id = '3', parent = '3')\n  only in the first:  (id = '9', parent = '9')\n  \
                 only in the first:  (id = '17', parent = '17')\n  only in the second: (id = '3', parent = '1')",
            ],
        ),
        (
            "INSERT INTO keyless VALUES ('a', 1)",
            &["rows of shop.keyless: the first has 3 rows, the second 4; first differing rows:\n  \
                 only in the second: (word = 'a', number = '1')"],
        ),
        (
            "DELETE FROM keyless WHERE word = 'a' LIMIT 1; INSERT INTO keyless VALUES ('b', NULL)",
            &[
                "the first has 3 rows, the second 3",
                "only in the first:  (word = 'a'",
                "only in the second: (word = 'b'",
            ],
        ),
        ("TRUNCATE keyless", &["rows of shop.keyless: the first has 3 rows, the second 0"]),
        ("UPDATE old SET id = 3 WHERE id = 2", &["rows of shop.old: the first has 2 rows, the second 2"]),
        (
            "ALTER TABLE keyless ADD more INT",
            &["table shop.keyless: Create Table differs", "rows of shop.keyless: not compared"],
        ),
    ];
    let pair = pair();
    for (change, expected) in cases {
        let mut connections = pair.fresh();
        run_both(&mut connections, &EVERYTHING);
        let changes: Vec<&str> = change.split("; ").collect();
        run(&mut connections[1], &changes);
        let report = pair.compare(&options());
        let found = shown(&report);
        assert!(!report.same && !found.is_empty(), "{change}");
        for text in *expected {
            assert!(found.iter().any(|found| found.contains(text)), "{change}: {found:#?}");
        }
        let plain = expected.iter().filter(|text| !text.starts_with("AUTO") && !text.starts_with("only")).count();
        assert!(found.len() <= plain.max(2), "{change}: {found:#?}");
    }
}

#[test]
fn columns_in_another_order_hold_the_same_rows() {
    let pair = pair();
    let mut connections = pair.fresh();
    run(&mut connections[0], &["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t (a, b) VALUES (1, 2)"]);
    run(&mut connections[1], &["CREATE TABLE t (b INT, a INT PRIMARY KEY)", "INSERT INTO t (a, b) VALUES (1, 2)"]);
    let found = shown(&pair.compare(&options()));
    assert!(found.len() == 1 && found[0].starts_with("table shop.t: Create Table differs"), "{found:?}");
    let rows_only = Options { definitions: false, ..options() };
    assert_eq!(shown(&pair.compare(&rows_only)), [""; 0]);
}

#[test]
fn counters_need_not_count() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &EVERYTHING);
    run(&mut connections[1], &["ALTER TABLE parent AUTO_INCREMENT = 50", "DO NEXTVAL(numbers)"]);
    assert_eq!(shown(&pair.compare(&options())).len(), 2);
    let without = Options { counters: false, ..options() };
    assert_eq!(shown(&pair.compare(&without)), [""; 0]);
}

#[test]
fn only_named_objects_are_compared() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &EVERYTHING);
    run(&mut connections[1], &["DELETE FROM child", "DROP VIEW names", "DROP TRIGGER before_child"]);
    let named = |names: &[&str]| Options { tables: names.iter().map(ToString::to_string).collect(), ..options() };
    assert_eq!(shown(&pair.compare(&named(&["parent", "shop.keyless"]))), [""; 0]);
    let found = shown(&pair.compare(&named(&["child"])));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(shown(&pair.compare(&named(&["names"]))), ["view shop.names: only the first has it"]);
    let error = compare(&pair.endpoints(), &named(&["parent", "shop.nowhere"]), &Progress::default()).unwrap_err();
    assert!(
        error.to_string().contains("a table, view or sequence `shop.nowhere` exists at neither endpoint"),
        "{error}"
    );
}

#[test]
fn schemas_of_both_endpoints_are_compared() {
    let pair = pair();
    let mut connections = pair.fresh();
    run(&mut connections[0], &["CREATE OR REPLACE DATABASE here", "CREATE TABLE here.t (x INT)"]);
    run(&mut connections[1], &["CREATE OR REPLACE DATABASE there"]);
    let endpoints = pair.endpoints().map(|endpoint| hortator_check::compare::Endpoint { schema: None, ..endpoint });
    let all = compare(&endpoints, &options(), &Progress::default()).unwrap();
    let named = Options { databases: vec![SCHEMA.to_owned()], ..options() };
    let one = compare(&endpoints, &named, &Progress::default()).unwrap();
    let nowhere = Options { databases: vec!["nowhere".to_owned()], ..options() };
    let error = compare(&endpoints, &nowhere, &Progress::default()).unwrap_err();
    run(&mut connections[0], &["DROP DATABASE here"]);
    run(&mut connections[1], &["DROP DATABASE there"]);
    assert_eq!(shown(&all), ["schema here: only the first has it", "schema there: only the second has it"]);
    assert!(one.same);
    assert!(error.to_string().contains("a schema `nowhere` exists at neither endpoint"), "{error}");
}

#[test]
fn an_unreadable_endpoint_is_named() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &["CREATE TABLE t (x INT)", "CREATE TABLE broken (x INT) ENGINE=MyISAM"]);
    let mut endpoints = pair.endpoints();
    endpoints[1].connect.user = "nobody".to_owned();
    let error = compare(&endpoints, &options(), &Progress::default()).unwrap_err();
    assert!(matches!(error, Error::Server { which: Which::Second, .. }), "{error}");
    assert!(error.to_string().contains("connecting: ERROR 1045"), "{error}");

    let data = pair.servers[1].node(0).data_dir();
    run(&mut connections[1], &["FLUSH TABLES"]);
    std::fs::write(data.join(SCHEMA).join("broken.MYI"), b"nothing").unwrap();
    let error = compare(&pair.endpoints(), &options(), &Progress::default()).unwrap_err().to_string();
    assert!(error.starts_with("the second endpoint (") && error.contains("shop.broken"), "{error}");
}
