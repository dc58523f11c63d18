//! Names of tables and schemas on servers that fold case: one table has several spellings, in any alphabet.

use hortator_sandbox::Builder;

use crate::compare::{Terms, assert_same, compare};
use crate::programs::{Contender, Dump};
use crate::servers::{Pair, Server};
use crate::target;

/// Rows go to one spelling, and what must come before or behind them to another.
const DUMPS: &[&str] = &[
    // Rows of one table by several names, in their order.
    "CREATE TABLE `Äpfel` (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nINSERT INTO `äpfel` (v) VALUES (1), (2);\n\
     INSERT INTO `ÄPFEL` (v) VALUES (3), (4);\nINSERT INTO `Äpfel` (v) VALUES (5), (6);\nINSERT INTO `äPFEL` (v) VALUES (7);\n",
    // A definition by another name.
    "CREATE TABLE `ñandú` (id INT PRIMARY KEY, v INT);\nINSERT INTO `ÑANDÚ` VALUES (1, 1), (2, 2);\n\
     INSERT INTO `ÑANDÚ` VALUES (3, 3);\nALTER TABLE `ñandú` DROP COLUMN v;\nINSERT INTO `Ñandú` VALUES (4), (5);\n\
     TRUNCATE `ñANDÚ`;\nINSERT INTO `ÑANDÚ` VALUES (6);\n",
    // A trigger and rows by other names.
    "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n INT);\nCREATE TABLE `Ω` (id INT PRIMARY KEY);\nINSERT INTO `ω` VALUES (1);\n\
     CREATE TRIGGER tr AFTER INSERT ON `Ω` FOR EACH ROW INSERT INTO log (n) VALUES (NEW.id);\nINSERT INTO `ω` VALUES (2), (3);\n\
     INSERT INTO log (n) VALUES (100);\nINSERT INTO `Ω` VALUES (4);\n",
    // A foreign key.
    "CREATE TABLE `Élève` (id INT PRIMARY KEY) ENGINE=InnoDB;\n\
     CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES `éLÈVE` (id)) ENGINE=InnoDB;\n\
     INSERT INTO `ÉLÈVE` VALUES (1), (2);\nINSERT INTO child VALUES (1, 1), (2, 2);\nINSERT INTO `élève` VALUES (3);\n\
     INSERT INTO child VALUES (3, 3);\n",
    // Schemas.
    "CREATE DATABASE `Österreich`;\nCREATE TABLE `öSTERREICH`.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\n\
     INSERT INTO `österreich`.t (v) VALUES (1), (2);\nUSE `ÖSTERREICH`;\nINSERT INTO t (v) VALUES (3), (4);\n\
     INSERT INTO `Österreich`.T (v) VALUES (5);\nDROP TABLE `österreich`.`T`;\nCREATE TABLE t (id INT);\nINSERT INTO `Österreich`.t VALUES (6);\n",
    // ASCII, which folds everywhere.
    "CREATE TABLE Mixed (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nINSERT INTO MIXED (v) VALUES (1), (2);\n\
     INSERT INTO mixed (v) VALUES (3);\nALTER TABLE MixeD DROP COLUMN v;\nINSERT INTO Mixed VALUES (9);\n",
];

#[test]
fn one_table_by_several_names() {
    let start = || {
        let known = target::mysql().map_or_else(Builder::standalone, Builder::mysql);
        Server::from(known.set("lower_case_table_names", "1").set("innodb_flush_log_at_trx_commit", "0"))
    };
    let pair = Pair { client: start(), hortator: start() };
    let mut found = Vec::new();
    for (number, text) in DUMPS.iter().enumerate() {
        let terms =
            Terms { contenders: &Contender::OURS, force: false, row_times: true, is_stricter: false, ahead: &[] };
        let comparison = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
        assert!(comparison.failures.is_empty(), "{number}: {:?}", comparison.failures);
        found.extend(comparison.differences.into_iter().map(|found| format!("dump {number}: {found}")));
    }
    assert_same(&found);
}
