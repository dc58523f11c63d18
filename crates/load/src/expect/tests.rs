//! What is expected behind statements.

use super::name_context::NameContext;
use super::{Expectations, RelationKind};
use crate::analysis::{FunctionSet, SessionFacts, analyze};
use crate::lexer::{Dialect, Location};

/// What is expected, in short: a table with the keys it should have, `?` where it was there before, and in brackets why
/// it is not counted.
fn behind(statements: &[&str]) -> String {
    let mut context = NameContext {
        database: Some(b"d".to_vec()),
        folds_case: false,
        names_are_utf8: true,
        checks_foreign_keys: true,
    };
    let mut expectations = Expectations::default();
    for (index, statement) in statements.iter().enumerate() {
        if *statement == "SET foreign_key_checks = 0" {
            context.checks_foreign_keys = false;
        }
        let location = Location { file: "".into(), line: index as u64 + 1, byte: 0, ordinal: 0 };
        let dialect = Dialect::mariadb(101_100);
        let functions = FunctionSet::all();
        let facts = SessionFacts { dialect, functions: &functions, known_head: None };
        let info = analyze(statement.as_bytes(), &facts);
        expectations.statement(statement.as_bytes(), &info, &dialect, &context, &location);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut parts = Vec::new();
    for (name, relation) in expectations.relations() {
        let kind = match relation.kind {
            RelationKind::Table => "",
            RelationKind::View => "view ",
            RelationKind::Sequence => "sequence ",
            RelationKind::Temporary => "temporary ",
        };
        let keys: Vec<String> = relation.keys.iter().chain(&relation.foreign_keys).map(|key| text(key)).collect();
        let keys = if keys.is_empty() { String::new() } else { format!(" {}", keys.join(" ")) };
        let made = if relation.is_made { "" } else { "?" };
        let not_counted = match &relation.not_counted {
            Some(reason) if relation.is_made => format!(" [{reason}]"),
            _ => String::new(),
        };
        parts.push(format!("{kind}{name}{made}{keys}{not_counted}"));
    }
    for (kind, schema, name, _) in expectations.objects() {
        parts.push(format!("{kind:?} {}.{}", text(schema), text(name)));
    }
    parts.join(", ")
}

#[test]
fn definitions_are_expected_by_name() {
    for (statements, expected) in [
        (&["CREATE TABLE t (id INT)"][..], "d.t"),
        (&["create table `o`.`a b` (x int)"], "o.a b"),
        (
            &["CREATE TABLE t (a INT, b INT COMMENT 'KEY x (y)', PRIMARY KEY (a), UNIQUE KEY u (b), KEY `k,1` (a,b), \
               FULLTEXT KEY f (c), INDEX (b), CONSTRAINT c UNIQUE (a), CONSTRAINT fk FOREIGN KEY (b) REFERENCES p (id), \
               CHECK (a > 0), FOREIGN KEY (a) REFERENCES p (id), KEY USING BTREE (a)) ENGINE=InnoDB"],
            "d.t PRIMARY c f k,1 u fk",
        ),
        (
            &["CREATE TABLE t (id INT(11) NOT NULL AUTO_INCREMENT PRIMARY KEY, b INT COMMENT 'PRIMARY KEY')"],
            "d.t PRIMARY",
        ),
        (&["CREATE TABLE t (`key` INT, `index` INT)"], "d.t"),
        (&["CREATE TABLE t (a INT)", "CREATE UNIQUE INDEX i ON t (a)", "DROP INDEX I ON t"], "d.t"),
        (
            &[
                "CREATE TABLE t (a INT)",
                "ALTER TABLE t ADD KEY x (a), ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (b)",
            ],
            "d.t x f",
        ),
        (&["CREATE TABLE t (KEY x (a), KEY y (b))", "ALTER TABLE t DROP KEY X, RENAME INDEX y TO z"], "d.t z"),
        (&["CREATE TABLE t (KEY x (a))", "ALTER TABLE t DROP COLUMN a"], "d.t"),
        (&["CREATE TABLE t (a INT)", "DROP TABLE t"], "d.t?"),
        (&["CREATE TABLE t (a INT)", "RENAME TABLE t TO o.u"], "d.t?, o.u [renamed at line 2]"),
        (&["CREATE TABLE t (a INT)", "ALTER TABLE t RENAME u, ADD b INT"], "d.t?, d.u [renamed at line 2]"),
        (&["CREATE TEMPORARY TABLE t (a INT)"], "temporary d.t?"),
        (&["/*!50001 CREATE VIEW v AS SELECT 1 AS x */"], "view d.v"),
        (
            &[
                "CREATE TABLE v (x INT)",
                "DROP TABLE IF EXISTS v",
                "CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`h` SQL SECURITY DEFINER VIEW v AS SELECT 1",
            ],
            "view d.v",
        ),
        (&["DROP TABLE IF EXISTS v", "CREATE VIEW v AS SELECT 1", "DROP TABLE IF EXISTS v"], "view d.v"),
        (&["CREATE SEQUENCE s START WITH 3"], "sequence d.s"),
        (
            &["CREATE SEQUENCE s", "CREATE TABLE t LIKE s", "CREATE TABLE u (LIKE t)"],
            "sequence d.s, sequence d.t, sequence d.u",
        ),
        (&["CREATE TABLE t (a INT)", "CREATE TABLE u LIKE t"], "d.t, d.u"),
        (
            &["CREATE TABLE t (a INT)", "CREATE DEFINER=r@h TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1"],
            "d.t, Trigger d.g",
        ),
        (
            &["CREATE TABLE t (a INT)", "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW BEGIN END", "DROP TABLE t"],
            "d.t?",
        ),
        (
            &[
                "CREATE PROCEDURE p() SELECT 1",
                "CREATE FUNCTION o.f() RETURNS INT RETURN 1",
                "DROP PROCEDURE IF EXISTS P",
            ],
            "Function o.f",
        ),
        (&["CREATE FUNCTION f RETURNS INT SONAME 'x.so'"], ""),
        (&["CREATE PACKAGE k AS END", "CREATE PACKAGE BODY k AS END"], "Package d.k, PackageBody d.k"),
        (&["CREATE PACKAGE k AS END", "CREATE PACKAGE BODY k AS END", "DROP PACKAGE k"], ""),
        (&["CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1"], "Event d.e"),
        (&["CREATE DATABASE IF NOT EXISTS x", "CREATE TABLE x.t (a INT)", "DROP DATABASE x"], "x.t?"),
        (&["CREATE USER u IDENTIFIED BY 'TABLE t'", "DROP USER u"], ""),
    ] {
        assert_eq!(behind(statements), expected, "{statements:?}");
    }
}

#[test]
fn what_cannot_be_counted_has_a_reason() {
    const MADE: &str = "CREATE TABLE t (a INT)";
    const ROW: &str = "INSERT INTO t VALUES (1)";
    for (statements, expected) in [
        (&[MADE, ROW][..], "d.t"),
        (&[ROW], "d.t?"),
        (&["CREATE TABLE IF NOT EXISTS t (a INT)"], "d.t [CREATE … IF NOT EXISTS: the table may have had rows]"),
        (&["DROP TABLE IF EXISTS t", "CREATE TABLE IF NOT EXISTS t (a INT)", ROW], "d.t"),
        (&[MADE, "CREATE TABLE IF NOT EXISTS t (a INT)", ROW], "d.t"),
        (&[MADE, "INSERT IGNORE INTO t VALUES (1)"], "d.t"),
        (&[MADE, "REPLACE INTO t VALUES (1)"], "d.t [REPLACE at line 2]"),
        (
            &["CREATE TABLE o (a INT)", MADE, "REPLACE INTO t VALUES (1)"],
            "d.o [REPLACE into d.t, which may delete rows that refer to it at line 3], d.t [REPLACE at line 3]",
        ),
        (
            &["SET foreign_key_checks = 0", "CREATE TABLE o (a INT)", MADE, "REPLACE INTO t VALUES (1)"],
            "d.o, d.t [REPLACE at line 4]",
        ),
        (
            &[MADE, "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2"],
            "d.t [INSERT … ON DUPLICATE KEY UPDATE at line 2]",
        ),
        (&[MADE, "INSERT INTO t VALUES ('ON DUPLICATE KEY')"], "d.t"),
        (&[MADE, ROW, "DELETE FROM t"], "d.t [DELETE at line 3]"),
        (&[MADE, ROW, "CALL p()", "CREATE TABLE u (a INT)"], "d.t [CALL at line 3], d.u"),
        (&[MADE, ROW, "ROLLBACK"], "d.t [ROLLBACK at line 3]"),
        (&[MADE, ROW, "TRUNCATE TABLE t", ROW], "d.t [emptied at line 3]"),
        (&[MADE, "TRUNCATE t", ROW], "d.t"),
        (&[MADE, ROW, "DROP TABLE t", MADE], "d.t [created again at line 4, after it received rows]"),
        (&["CREATE TABLE t (a INT) SELECT 1 AS a"], "d.t [CREATE TABLE … SELECT at line 1]"),
        (&[MADE, "ALTER TABLE t TRUNCATE PARTITION p"], "d.t [ALTER TABLE at line 2]"),
        (&[MADE, "ALTER TABLE t ADD b INT", "LOCK TABLES t WRITE", "SET @a = 1", ROW, "COMMIT"], "d.t"),
        (
            &[
                MADE,
                "CREATE TABLE o (a INT)",
                "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW INSERT INTO o VALUES (1)",
                ROW,
            ],
            "d.o [rows for d.t, whose triggers may write to any table at line 4], d.t, Trigger d.g",
        ),
        (
            &[MADE, "CREATE VIEW v AS SELECT * FROM t", "INSERT INTO v VALUES (1)"],
            "d.t [rows through the view d.v at line 3], view d.v [rows through the view d.v at line 3]",
        ),
        (&[MADE, "CREATE TEMPORARY TABLE t (a INT)", ROW], "d.t [a temporary table has the same name from line 2 on]"),
        (&[MADE, "ALTER IGNORE TABLE t ADD UNIQUE (a)"], "d.t [ALTER IGNORE TABLE at line 2]"),
        (
            &[MADE, "SET STATEMENT sort_buffer_size = 100000 FOR INSERT INTO t VALUES (1)"],
            "d.t [SET STATEMENT at line 2]",
        ),
        (&[MADE, "INSERT INTO t VALUES (1); DELETE FROM t"], "d.t [several statements in one text at line 2]"),
        (&[MADE, "FROBNICATE t"], "d.t [FROBNICATE at line 2]"),
    ] {
        assert_eq!(behind(statements), expected, "{statements:?}");
    }
}
