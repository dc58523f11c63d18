//! Statements and what the rules say of them: one rule set a table, one statement a line.

use super::{Decision, NamePattern, NamePatternError, NamePatterns, Selection, decide, scope};
use crate::analysis::statement_tokens;
use crate::lexer::Dialect;
use crate::planner::Names;

fn patterns(texts: &[&str]) -> Vec<NamePattern> {
    texts.iter().map(|text| text.parse().expect("a pattern")).collect()
}

/// `run`, the option that leaves it out, or `refuse`.
fn said(selection: &Selection, text: &str, folds_case: bool) -> String {
    let tokens = statement_tokens(text.as_bytes(), &Dialect::mariadb(101_119)).expect("few tokens");
    let names = Names { database: Some(b"shop"), folds_case, are_utf8: true };
    let decisions: Vec<Decision> = tokens.iter().map(|all| decide(&scope(all), selection, names)).collect();
    match &decisions[..] {
        [Decision::Run] => "run".to_owned(),
        [Decision::LeaveOut(option)] => option.option().to_owned(),
        [Decision::Refuse(_)] => "refuse".to_owned(),
        other => format!("{other:?}"),
    }
}

fn check(selection: &Selection, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let found = said(selection, text, false);
        if found != *expected {
            wrong.push_str(&format!("{text}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn one_table_of_a_schema() {
    let selection = Selection { only: patterns(&["shop.orders", "shop.v*"]), ..Selection::default() };
    check(
        &selection,
        &[
            ("DROP TABLE IF EXISTS `orders`", "run"),
            ("DROP TABLE IF EXISTS orders, log", "refuse"),
            ("DROP TABLE a, b", "--only"),
            ("/*!40000 DROP DATABASE IF EXISTS `shop`*/", "--only"),
            ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */", "run"),
            ("CREATE DATABASE crm", "--only"),
            ("CREATE OR REPLACE DATABASE shop", "refuse"),
            ("ALTER DATABASE shop CHARACTER SET latin1", "run"),
            ("CREATE TABLE `orders` (`id` int, KEY (`id`)) ENGINE=InnoDB", "run"),
            ("CREATE TABLE log (id int)", "--only"),
            ("CREATE TABLE crm.orders (id int)", "--only"),
            ("CREATE TABLE orders LIKE log", "refuse"),
            ("CREATE TABLE orders (id INT) SELECT * FROM log", "refuse"),
            ("CREATE TABLE log SELECT * FROM orders", "refuse"),
            ("CREATE TABLE orders (id int) ENGINE=MERGE UNION=(log, b)", "refuse"),
            ("LOCK TABLES `orders` WRITE", "run"),
            ("LOCK TABLES `orders` WRITE, `log` WRITE", "--only"),
            ("UNLOCK TABLES", "run"),
            ("/*!40000 ALTER TABLE `log` DISABLE KEYS */", "--only"),
            ("/*!40000 ALTER TABLE `orders` DISABLE KEYS */", "run"),
            ("ALTER TABLE orders RENAME TO old_orders", "refuse"),
            ("ALTER TABLE orders ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES log (id)", "run"),
            ("ALTER TABLE orders RENAME COLUMN a TO b", "run"),
            ("ALTER TABLE orders EXCHANGE PARTITION p WITH TABLE log", "refuse"),
            ("ALTER TABLE orders CONVERT TABLE log TO PARTITION p VALUES LESS THAN (3)", "refuse"),
            ("ALTER TABLE orders CONVERT PARTITION p TO TABLE log", "refuse"),
            ("RENAME TABLE orders TO log", "refuse"),
            ("RENAME TABLE a TO b, c TO d", "--only"),
            ("CREATE INDEX i ON orders (a)", "run"),
            ("CREATE UNIQUE INDEX i ON log (a)", "--only"),
            ("INSERT INTO `orders` VALUES (1)", "run"),
            ("INSERT IGNORE INTO shop.log VALUES (1)", "--only"),
            ("REPLACE INTO log SELECT * FROM orders", "--only"),
            ("INSERT INTO orders SELECT * FROM log", "refuse"),
            ("INSERT INTO orders SELECT * FROM orders", "run"),
            ("INSERT INTO orders VALUES ((SELECT MAX(id) FROM log))", "refuse"),
            ("INSERT INTO orders SELECT 1, CONVERT(a USING utf8mb4) FROM orders ON DUPLICATE KEY UPDATE a = 1", "run"),
            ("SELECT id FROM orders FOR UPDATE", "run"),
            ("UPDATE orders SET a = 1", "run"),
            ("UPDATE orders SET a = (SELECT MAX(id) FROM log)", "refuse"),
            ("UPDATE log SET a = (SELECT MAX(id) FROM orders)", "--only"),
            ("UPDATE orders, log SET orders.a = log.a", "refuse"),
            ("DELETE FROM log WHERE id IN (SELECT id FROM orders)", "--only"),
            ("DELETE orders FROM orders JOIN log USING (id)", "refuse"),
            ("LOAD DATA INFILE 'x' INTO TABLE log", "--only"),
            ("TRUNCATE TABLE orders", "run"),
            ("SELECT 1", "run"),
            ("SELECT a FROM orders, log", "refuse"),
            ("SELECT TRIM(LEADING 'x' FROM a), EXTRACT(YEAR FROM b) FROM orders AS o, v2", "run"),
            ("SELECT COUNT(*) FROM log", "--only"),
            ("INSERT INTO orders SELECT 1 FROM orders PARTITION (p, q), log", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM orders PARTITION (p, q), v1", "run"),
            ("INSERT INTO orders SELECT o.id FROM orders o JOIN v1 ON o.id = v1.id, log", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM orders JOIN v1 USING (id, a), log", "refuse"),
            ("INSERT INTO orders SELECT d.id FROM (SELECT 1 AS id, 2 AS b) AS d, log", "refuse"),
            ("INSERT INTO orders SELECT d.id FROM (SELECT 1 AS id, b FROM orders) AS d, v1", "run"),
            ("INSERT INTO orders SELECT 1 FROM (orders, log)", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM orders USE INDEX FOR JOIN (a, b), log", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM orders USE INDEX FOR ORDER BY (a, b), v1 ORDER BY c, d", "run"),
            ("INSERT INTO orders SELECT 1 FROM JSON_TABLE(@a, '$[*]' COLUMNS (b INT PATH '$.b')) AS t, log", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM orders FOR SYSTEM_TIME ALL, log", "refuse"),
            ("SELECT STRAIGHT_JOIN o.a, v.b FROM orders o STRAIGHT_JOIN v1 v WHERE f IN (a, b) FOR UPDATE", "run"),
            ("UPDATE orders o JOIN v1 ON o.id = v1.id SET o.a = 1, o.b = 2", "run"),
            ("UPDATE orders o JOIN v1 ON o.id = v1.id, log SET o.a = 1", "refuse"),
            ("DELETE FROM orders USING orders, log", "refuse"),
            ("INSERT INTO orders WITH x AS (SELECT id FROM orders) SELECT id FROM x", "run"),
            (
                "INSERT INTO orders WITH x (a) AS (SELECT id FROM orders), y AS (SELECT a FROM x) SELECT a FROM x, y",
                "run",
            ),
            ("INSERT INTO orders WITH RECURSIVE x AS (SELECT 1 UNION SELECT id FROM x) SELECT id FROM x", "run"),
            ("INSERT INTO orders WITH log AS (SELECT id FROM log) SELECT id FROM log", "refuse"),
            ("INSERT INTO orders SELECT 1 FROM log WHERE id IN (WITH log AS (SELECT 1) SELECT * FROM log)", "refuse"),
            ("INSERT INTO orders WITH log AS (SELECT 1) SELECT 1 FROM shop.log", "refuse"),
            ("SET @a = (SELECT MAX(id) FROM log)", "--only"),
            ("SET @a = 1", "run"),
            ("SELECT SETVAL(`log_id`, 5, 0)", "--only"),
            ("DO SETVAL(vs, 5)", "run"),
            ("CREATE VIEW v1 AS SELECT * FROM log", "run"),
            ("CREATE ALGORITHM=UNDEFINED DEFINER=`a`@`b` SQL SECURITY DEFINER VIEW `w` AS select 1", "--only"),
            ("CREATE SEQUENCE s", "--only"),
            ("CREATE DEFINER=`a`@`%` TRIGGER t BEFORE INSERT ON orders FOR EACH ROW INSERT INTO log VALUES (1)", "run"),
            ("CREATE TRIGGER t BEFORE INSERT ON log FOR EACH ROW SET NEW.a = 1", "--only"),
            ("DROP TRIGGER IF EXISTS t", "--only"),
            ("CREATE PROCEDURE p() SELECT 1", "--only"),
            ("CREATE FUNCTION v_total() RETURNS INT RETURN 1", "run"),
            ("CREATE FUNCTION V_TOTAL() RETURNS INT RETURN 1", "run"),
            ("DROP PROCEDURE IF EXISTS p", "--only"),
            ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "--only"),
            ("CREATE FUNCTION f RETURNS INT SONAME 'x.so'", "--only"),
            ("GRANT ALL ON shop.orders TO a", "--only"),
            ("CREATE USER a", "--only"),
            ("FLUSH PRIVILEGES", "--only"),
            ("CALL p()", "refuse"),
            ("PREPARE s FROM 'SELECT 1'", "refuse"),
            ("EXECUTE IMMEDIATE 'SELECT 1'", "refuse"),
            ("BEGIN NOT ATOMIC SELECT 1; END", "refuse"),
            ("BEGIN", "run"),
            ("COMMIT", "run"),
            ("SOMETHING new", "refuse"),
            ("ANALYZE TABLE orders, log", "refuse"),
            ("CHECK TABLE log", "--only"),
            ("SHOW WARNINGS", "run"),
            ("DESCRIBE orders", "run"),
            ("CREATE TEMPORARY TABLE log (id int)", "--only"),
        ],
    );
}

#[test]
fn all_but_some_tables() {
    let selection = Selection { skip: patterns(&["shop.log_*", "crm.*"]), ..Selection::default() };
    check(
        &selection,
        &[
            ("DROP DATABASE shop", "--skip"),
            ("DROP DATABASE crm", "--skip"),
            ("DROP DATABASE other", "run"),
            ("CREATE DATABASE shop", "run"),
            ("CREATE SCHEMA IF NOT EXISTS crm", "--skip"),
            ("CREATE TABLE log_2024 (id int)", "--skip"),
            ("CREATE TABLE log (id int)", "run"),
            ("INSERT INTO log SELECT * FROM log_2024", "refuse"),
            ("CREATE TABLE crm.anything (id int)", "--skip"),
            ("GRANT ALL ON *.* TO a", "run"),
            ("SET GLOBAL x = 1", "run"),
            ("CREATE PROCEDURE crm.p() SELECT 1", "--skip"),
            ("DROP TRIGGER other.t", "run"),
            ("CALL p()", "refuse"),
        ],
    );
}

#[test]
fn parts_of_objects() {
    let no_data = Selection { no_data: true, ..Selection::default() };
    check(
        &no_data,
        &[
            ("CREATE TABLE t (id int)", "run"),
            ("INSERT INTO t VALUES (1)", "--no-data"),
            ("UPDATE t SET a = 1", "--no-data"),
            ("DELETE a FROM a JOIN b", "--no-data"),
            ("LOAD DATA INFILE 'x' INTO TABLE t", "--no-data"),
            ("SELECT SETVAL(s, 5, 0)", "run"),
            ("CREATE TABLE t SELECT 1", "refuse"),
            ("CREATE TABLE t LIKE u", "run"),
            ("CALL p()", "refuse"),
            ("CREATE TRIGGER t BEFORE INSERT ON log FOR EACH ROW SET NEW.a = 1", "run"),
        ],
    );
    let no_schema = Selection { no_schema: true, ..Selection::default() };
    check(
        &no_schema,
        &[
            ("CREATE DATABASE shop", "--no-schema"),
            ("DROP TABLE IF EXISTS t", "--no-schema"),
            ("CREATE TABLE t (id int)", "--no-schema"),
            ("ALTER TABLE t ADD KEY (a)", "--no-schema"),
            ("CREATE INDEX i ON t (a)", "--no-schema"),
            ("INSERT INTO t VALUES (1)", "run"),
            ("TRUNCATE t", "run"),
            ("LOCK TABLES t WRITE", "run"),
            ("CREATE VIEW v AS SELECT 1", "--no-schema"),
            ("CREATE TRIGGER t BEFORE INSERT ON log FOR EACH ROW SET NEW.a = 1", "--no-schema"),
            ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "--no-schema"),
            ("CREATE TEMPORARY TABLE t (id int)", "run"),
            ("RENAME TABLE a TO b", "refuse"),
            ("CREATE TABLE t AS SELECT 1", "refuse"),
            ("GRANT ALL ON *.* TO a", "run"),
        ],
    );
    let skip = Selection { skip_triggers: true, skip_routines: true, skip_events: true, ..Selection::default() };
    check(
        &skip,
        &[
            ("CREATE TRIGGER t BEFORE INSERT ON log FOR EACH ROW SET NEW.a = 1", "--skip-triggers"),
            ("/*!50032 DROP TRIGGER IF EXISTS t */", "--skip-triggers"),
            (
                "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a=1 */",
                "--skip-triggers",
            ),
            ("/*!50003 DROP PROCEDURE IF EXISTS `p` */", "--skip-routines"),
            ("CREATE DEFINER=`a`@`b` FUNCTION f() RETURNS INT RETURN 1", "--skip-routines"),
            ("CREATE PACKAGE BODY p AS END", "--skip-routines"),
            ("/*!50106 DROP EVENT IF EXISTS `e` */", "--skip-events"),
            (
                "/*!50106 CREATE*/ /*!50117 DEFINER=`a`@`b`*/ /*!50106 EVENT `e` ON SCHEDULE EVERY 1 DAY DO SELECT 1 */",
                "--skip-events",
            ),
            ("CALL p()", "run"),
            ("CREATE TABLE t SELECT 1", "run"),
        ],
    );
}

#[test]
fn names_compare_as_the_server_compares_them() {
    let selection = Selection { only: patterns(&["Shop.Orders"]), ..Selection::default() };
    assert_eq!(said(&selection, "DROP TABLE SHOP.ORDERS", true), "run");
    assert_eq!(said(&selection, "DROP TABLE SHOP.ORDERS", false), "--only");
    let selection = Selection { only: patterns(&["shop.größe?", "shop.`a*`"]), ..Selection::default() };
    assert_eq!(said(&selection, "DROP TABLE größen", false), "run");
    assert_eq!(said(&selection, "DROP TABLE größe", false), "--only");
    assert_eq!(said(&selection, "DROP TABLE `a*`", false), "run");
    assert_eq!(said(&selection, "DROP TABLE `ab`", false), "--only");
}

#[test]
fn names_in_another_character_set_are_compared_as_far_as_they_are_known() {
    let said = |only: &str, text: &[u8]| {
        let selection = Selection { only: patterns(&[only]), ..Selection::default() };
        let tokens = statement_tokens(text, &Dialect::mariadb(101_119)).expect("few tokens");
        let names = Names { database: Some(b"shop"), folds_case: false, are_utf8: false };
        decide(&scope(&tokens[0]), &selection, names)
    };
    assert_eq!(said("shop.*", b"DROP TABLE `t\xe9`"), Decision::Run);
    assert_eq!(said("shop.t*", b"DROP TABLE `t\xe9`"), Decision::Run);
    assert!(matches!(said("shop.orders", b"DROP TABLE `t\xe9`"), Decision::LeaveOut(_)));
    assert!(matches!(said("crm.t?", b"DROP TABLE `t\xe9`"), Decision::LeaveOut(_)));
    assert!(matches!(said("shop.t?", b"DROP TABLE `t\xe9`"), Decision::Refuse(_)));
    assert!(matches!(said("shop.t\u{e9}", b"DROP TABLE `t\xe9`"), Decision::Refuse(_)));
}

#[test]
fn a_package_is_one_statement() {
    let selection = Selection { only: patterns(&["shop.pack"]), ..Selection::default() };
    check(
        &selection,
        &[
            ("CREATE PACKAGE pack AS FUNCTION one RETURN INT; PROCEDURE two(a INT); END", "run"),
            (
                "CREATE PACKAGE BODY other AS c INT := 0; FUNCTION one RETURN INT AS BEGIN RETURN 1; END; END other;",
                "--only",
            ),
            ("CREATE PROCEDURE pack(a IN VARCHAR2) AS b INT; BEGIN SELECT 1; END", "run"),
            ("CREATE TRIGGER g BEFORE INSERT ON pack FOR EACH ROW DECLARE b INT; BEGIN b := 1; END", "run"),
        ],
    );
}

#[test]
fn statements_behind_a_definition_are_judged_too() {
    for text in [
        "CREATE PROCEDURE p() UPDATE t AS x SET a = 1; DROP TABLE y; BEGIN NOT ATOMIC SELECT 1; END",
        "CREATE PROCEDURE p() SELECT 1 AS a; DROP TABLE y; BEGIN NOT ATOMIC SELECT 1; END",
        "CREATE PACKAGE p AS FUNCTION one RETURN INT; END; DROP TABLE y; CREATE PACKAGE q AS FUNCTION one RETURN INT; END",
    ] {
        let tokens = statement_tokens(text.as_bytes(), &Dialect::mariadb(101_119)).expect("few tokens");
        assert!(tokens.len() > 1, "{text}");
    }
}

/// As mydumper writes them where a body has a blank between a semicolon and the end of its line.
#[test]
fn a_body_among_other_statements_is_whole() {
    for (text, count) in [
        (
            "SET @a = 1; CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @b = 1; SET @c = 2; END; SET @a = 2",
            3,
        ),
        ("DROP PROCEDURE p; CREATE PROCEDURE p() BEGIN IF 1 THEN DROP TABLE a; END IF; END; DROP TABLE b;", 3),
        ("SET @a = 1; BEGIN; INSERT INTO t VALUES (1); BEGIN WORK; DROP TABLE a; COMMIT", 6),
    ] {
        let tokens = statement_tokens(text.as_bytes(), &Dialect::mariadb(101_119)).expect("few tokens");
        assert_eq!(tokens.len(), count, "{text}");
    }
}

#[test]
fn patterns_are_read() {
    let many: NamePatterns = "shop.a,`my.shop`.`b,c`,*.d*".parse().expect("patterns");
    let shown: Vec<String> = many.0.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["shop.a", "`my.shop`.`b,c`", "*.d*"]);
    let wrong = |text: &str| text.parse::<NamePatterns>().expect_err("no pattern");
    assert!(matches!(wrong("orders"), NamePatternError::NoSchema(_)));
    assert!(matches!(wrong("shop."), NamePatternError::EmptyPart(_)));
    assert!(matches!(wrong("a.b.c"), NamePatternError::TooManyParts(_)));
    assert!(matches!(wrong("`a.b"), NamePatternError::OpenQuote(_)));
    assert!(matches!(wrong("a.b,"), NamePatternError::NoSchema(_)));
}

#[test]
fn stars_reach_as_far_as_they_must() {
    let pattern: NamePattern = "*.a*b*c".parse().expect("a pattern");
    for (name, matches) in [("abc", true), ("axxbxxbc", true), ("abcb", false), ("ac", false), ("aabbcc", true)] {
        assert_eq!(pattern.matches("any", name, false, false), matches, "{name}");
    }
}
