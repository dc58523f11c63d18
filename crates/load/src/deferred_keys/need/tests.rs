//! Definitions, and whether they may need a key of the table `d.missing`.

use super::*;
use crate::analysis::{FunctionSet, NamedTable, SessionFacts, analyze};
use crate::lexer::Dialect;

fn needs(text: &str) -> bool {
    let functions = FunctionSet::all();
    let facts = SessionFacts { dialect: Dialect::mariadb(101_119), functions: &functions, known_head: None };
    let info = analyze(text.as_bytes(), &facts);
    let resolve = |named: &NamedTable| TableName {
        schema: named.schema.clone().unwrap_or_else(|| b"d".to_vec()),
        table: named.table.clone(),
    };
    let tables: Vec<TableName> = info.tables.iter().map(resolve).collect();
    let references: Vec<TableName> = info.references.iter().map(resolve).collect();
    may_need_keys(&info, text.as_bytes(), &tables, &references, |table| table.to_string() == "d.missing")
}

#[test]
fn definitions_that_need_none() {
    for text in [
        "CREATE TABLE t (a INT, KEY k (a))",
        "CREATE TABLE IF NOT EXISTS t (a INT, FOREIGN KEY (a) REFERENCES other (a))",
        "CREATE TABLE e.missing (a INT)",
        "ALTER TABLE t ADD KEY (a), ADD FOREIGN KEY (a) REFERENCES other (a)",
        "CREATE FULLTEXT INDEX f ON t (a)",
        "DROP INDEX f ON t",
        "DROP TABLE IF EXISTS t, u",
        "DROP VIEW v",
        "TRUNCATE t",
        "CREATE DATABASE x",
        "ALTER DATABASE x CHARACTER SET latin1",
        "CREATE VIEW v AS SELECT 1 AS `a`, 1 AS `b`",
        "CREATE SEQUENCE s",
        "CREATE DEFINER=`a`@`b` TRIGGER r BEFORE INSERT ON missing FOR EACH ROW SET @x = (SELECT a FROM missing FORCE INDEX (k))",
        "CREATE PROCEDURE p() SELECT a FROM missing FORCE INDEX (k)",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT RETURN (SELECT MAX(a) FROM missing FORCE INDEX (k))",
        "DROP FUNCTION IF EXISTS f",
    ] {
        assert!(!needs(text), "{text}");
    }
}

#[test]
fn definitions_that_may_need_one() {
    for text in [
        "CREATE TABLE missing (a INT)",
        "CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES missing (a))",
        "CREATE TABLE t LIKE missing",
        "CREATE TABLE t LIKE other",
        "CREATE TABLE t AS SELECT * FROM missing FORCE INDEX (k)",
        "ALTER TABLE missing ADD KEY (a)",
        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES d.missing (a)",
        "CREATE INDEX k ON missing (a)",
        "DROP INDEX k ON missing",
        "DROP TABLE t, missing",
        "TRUNCATE missing",
        "CREATE VIEW v AS SELECT a FROM missing FORCE INDEX (k)",
        "CREATE OR REPLACE VIEW v AS SELECT a from other WHERE f(a)",
        "CREATE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO UPDATE missing FORCE INDEX (k) SET a = 1",
        "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW CALL event_of(1)",
        "RENAME TABLE missing TO t",
        "SELECT a FROM missing",
    ] {
        assert!(needs(text), "{text}");
    }
}
