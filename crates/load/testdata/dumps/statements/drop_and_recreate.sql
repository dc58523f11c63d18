-- errors on mysql: CREATE OR REPLACE TABLE is MariaDB's
-- One name that is several tables in turn, with other columns each time.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (1, 'first'), (2, 'first');
DROP TABLE t;
CREATE TABLE t (v INT, w VARCHAR(10), id INT AUTO_INCREMENT PRIMARY KEY);
INSERT INTO t VALUES ('1', 'second', 5), (2, 'second', NULL);
DROP TABLE IF EXISTS t, never_was;
CREATE TABLE t (only_one DATE);
INSERT INTO t VALUES ('2020-01-01'), (20200102);
CREATE OR REPLACE TABLE t (only_one BLOB);
INSERT INTO t VALUES ('2020-01-01'), (20200102);
CREATE TABLE u SELECT * FROM t;
DROP TABLE t;
CREATE VIEW t AS SELECT only_one FROM u;
INSERT INTO t VALUES ('through a view');
DROP VIEW t;
CREATE TABLE t (id INT);
INSERT INTO t VALUES (9);
CREATE DATABASE elsewhere;
CREATE TABLE elsewhere.t (id INT);
INSERT INTO elsewhere.t VALUES (1);
DROP DATABASE elsewhere;
CREATE DATABASE elsewhere;
CREATE TABLE elsewhere.t (id VARCHAR(5));
INSERT INTO elsewhere.t VALUES (1), ('two');
