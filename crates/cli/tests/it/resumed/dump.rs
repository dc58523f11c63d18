//! A dump with everything in it that a load that goes on must not do twice or leave out.
//!
//! Rows without a key, so that a chunk applied twice shows as rows too many; rows that the server numbers; rows through
//! triggers; changes of rows that are not the same when done twice; transactions of the dump's own; definitions in
//! between; session variables that are set far before they count.

use std::fmt::Write;

use crate::random::Dice;

/// How many of everything.
#[derive(Clone, Copy)]
pub struct Size {
    /// INSERTs into each of the large tables.
    pub statements: u64,
    /// Rows in each.
    pub rows: u64,
    /// Whether there are tables whose engine cannot roll back.
    pub with_aria: bool,
}

const DEFINITIONS: &str = "\
SET @old_mode = @@sql_mode, sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
SET @saved_cs = @@character_set_client;
DROP TABLE IF EXISTS visit, person, heap, counted, watched, log, tally;
CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(40), boss INT, KEY (name),
  FOREIGN KEY (boss) REFERENCES person (id)) ENGINE=InnoDB;
CREATE TABLE visit (id INT PRIMARY KEY, person INT, note TEXT, FOREIGN KEY (person) REFERENCES person (id));
CREATE TABLE heap (a INT, b VARCHAR(30));
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40));
CREATE TABLE watched (id INT, v INT);
CREATE TABLE tally (id INT PRIMARY KEY, n BIGINT);
INSERT INTO tally VALUES (1, 0);
CREATE TRIGGER watched_ai AFTER INSERT ON watched FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('row ', NEW.id));
";

/// The dump of a seed.
pub fn dump(seed: u64, size: Size) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let mut text = DEFINITIONS.to_owned();
    if size.with_aria {
        text += "CREATE TABLE plain (a INT, b VARCHAR(30)) ENGINE=Aria TRANSACTIONAL=0;\n";
    }
    let mut next = [0_u64; 2];
    for round in 0..size.statements {
        rows(&mut text, "person", size.rows, |row| {
            next[0] += 1;
            let id = next[0];
            let boss = if id % 7 == 1 { "NULL".to_owned() } else { (id - id % 7).max(1).to_string() };
            let _ = write!(row, "({id},'name {}',{boss})", id * 7919 % 1000);
        });
        rows(&mut text, "heap", size.rows, |row| {
            let _ = write!(row, "({},'{}')", round % 5, "same".repeat(1 + (round % 3) as usize));
        });
        rows(&mut text, "counted (v)", size.rows / 2 + 1, |row| {
            let _ = write!(row, "({round})");
        });
        rows(&mut text, "visit", size.rows, |row| {
            next[1] += 1;
            let _ = write!(row, "({0},{1},'visit {0} it''s')", next[1], 1 + next[1] % next[0]);
        });
        if size.with_aria {
            rows(&mut text, "plain", size.rows, |row| {
                let _ = write!(row, "({round},'cannot roll back')");
            });
        }
        between(&mut text, &mut dice, round);
    }
    text += "SET sql_mode = @old_mode, character_set_client = @saved_cs;\n";
    text += "CREATE VIEW everyone AS SELECT p.name, v.note FROM person p JOIN visit v ON v.person = p.id;\n";
    text += "ALTER TABLE heap ADD KEY (a);\nINSERT INTO tally SELECT 1000, COUNT(*) FROM heap;\n";
    text.into_bytes()
}

/// An INSERT of so many rows.
fn rows(text: &mut String, into: &str, count: u64, mut row: impl FnMut(&mut String)) {
    let _ = write!(text, "INSERT INTO {into} VALUES ");
    for number in 0..count {
        text.push_str(if number == 0 { "" } else { "," });
        row(text);
    }
    text.push_str(";\n");
}

/// Something else than rows.
fn between(text: &mut String, dice: &mut Dice, round: u64) {
    let _ = match dice.below(14) {
        0 => writeln!(text, "UPDATE tally SET n = (n * 3 + {round}) % 1000003 WHERE id = 1;"),
        1 => writeln!(text, "INSERT INTO watched VALUES ({round}, 1), ({round}, 2);"),
        2 => writeln!(
            text,
            "CREATE TABLE extra_{round} (id INT PRIMARY KEY) ENGINE=InnoDB;\nINSERT INTO extra_{round} VALUES ({round});"
        ),
        3 => writeln!(
            text,
            "BEGIN;\nINSERT INTO heap VALUES ({round}, 'in a transaction');\nUPDATE tally SET n = (n + 7) * 5 % 1000003;\nSAVEPOINT s;\n\
             INSERT INTO heap VALUES ({round}, 'taken back');\nROLLBACK TO s;\nCOMMIT;"
        ),
        4 => writeln!(
            text,
            "SET autocommit = 0;\nLOCK TABLES heap WRITE;\nINSERT INTO heap VALUES ({round}, 'by hand'), (1, 'too');\n\
             UNLOCK TABLES;\nINSERT INTO tally VALUES ({}, 1);\nCOMMIT;\nSET autocommit = 1;",
            round + 10
        ),
        5 => {
            writeln!(text, "CREATE PROCEDURE p_{round}() SELECT {round};\nALTER TABLE counted COMMENT 'round {round}';")
        }
        6 => writeln!(text, "SET @n = {round};\nINSERT INTO heap VALUES (@n, 'of a variable');"),
        7 => {
            writeln!(text, "DELETE FROM tally WHERE id > 1 LIMIT 1;\nINSERT INTO heap SELECT 77, 'copied' FROM tally;")
        }
        8 => writeln!(text, "CREATE INDEX i_{round} ON visit (note(12));\nDROP INDEX i_{round} ON visit;"),
        9 => writeln!(text, "BEGIN;\nINSERT INTO heap VALUES ({round}, 'gone');\nROLLBACK;"),
        10 => writeln!(text, "INSERT INTO tally VALUES ({}, 5);\nSHOW WARNINGS;", 5000 + round),
        11 => writeln!(
            text,
            "DROP VIEW IF EXISTS seen;\nSET @v = 1;\nCREATE VIEW seen AS SELECT {round} AS round, COUNT(*) AS n FROM tally;\n\
             INSERT INTO tally SELECT {}, n FROM seen;",
            2000 + round
        ),
        12 => writeln!(
            text,
            "CREATE OR REPLACE FUNCTION added() RETURNS INT DETERMINISTIC RETURN {round};\n\
             DROP TABLE IF EXISTS passing;\nCREATE TABLE passing (id INT);\nINSERT INTO passing VALUES ({round}), (1);"
        ),
        _ => writeln!(
            text,
            "SET @m = @@sql_mode, sql_mode = '';\nINSERT INTO heap VALUES ('12x', 'bent');\nSET sql_mode = @m;"
        ),
    };
}
