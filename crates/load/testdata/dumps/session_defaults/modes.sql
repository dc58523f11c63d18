-- errors on mysql: it lets no default read a system variable
-- Defaults that read modes, charsets, the database and the account.
CREATE TABLE t (id INT PRIMARY KEY, a TEXT DEFAULT (@@sql_mode), b TEXT DEFAULT (@@time_zone), c TEXT DEFAULT (@@character_set_client), d TEXT DEFAULT (@@collation_connection),
  e TEXT DEFAULT (@@tx_isolation), f TEXT DEFAULT (DATABASE()), g TEXT DEFAULT (SUBSTRING_INDEX(USER(), '@', 1)), h TEXT DEFAULT (@@optimizer_switch), i TEXT DEFAULT (@@autocommit), j TEXT DEFAULT (@@sql_log_bin));
INSERT INTO t (id) VALUES (1), (2);
SET sql_mode = '', time_zone = '+03:00';
SET NAMES latin1;
INSERT INTO t (id) VALUES (3), (4);
SET NAMES binary;
INSERT INTO t (id) VALUES (5), (6);
CREATE DATABASE elsewhere;
USE elsewhere;
INSERT INTO hortator_case.t (id) VALUES (7), (8);
SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE;
INSERT INTO hortator_case.t (id) VALUES (9);
