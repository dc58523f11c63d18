-- SET sql_mode between INSERTs into one table: each statement is judged under the mode at its own place.
CREATE TABLE t (id INT PRIMARY KEY, tiny TINYINT, word VARCHAR(4), day DATE);
SET sql_mode='STRICT_TRANS_TABLES';
INSERT INTO t VALUES (1, 1, 'one', '2020-01-01'), (2, 2, 'two', '2020-01-02');
SET sql_mode='';
INSERT INTO t VALUES (3, 999, 'much too long', '2020-02-31'), (4, -999, 'four', 'nonsense');
INSERT INTO t VALUES (5, '12abc', 'five', '0000-00-00'), (6, 'abc', 'six', '2020-00-10');
SET sql_mode='ALLOW_INVALID_DATES';
INSERT INTO t VALUES (7, 7, 'seven', '2020-02-31'), (8, 1e30, 'eight', '2020-04-31');
SET SESSION sql_mode=CONCAT(@@sql_mode, ',ANSI_QUOTES');
INSERT INTO "t" VALUES (9, 9, 'nine', '2020-01-09'), (10, 10, 'a"b', '2020-01-10');
SET @@session.sql_mode='NO_BACKSLASH_ESCAPES';
INSERT INTO t VALUES (11, 11, 'a\b', '2020-01-11'), (12, 12, '\\\\', '2020-01-12');
SET sql_mode=DEFAULT;
INSERT INTO t VALUES (13, 13, 'a\nb', '2020-01-13'), (14, 14, '\\\\', '2020-01-14');
