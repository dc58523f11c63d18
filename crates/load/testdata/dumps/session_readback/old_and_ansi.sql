-- errors on mysql: its modes differ
-- Modes under which a query of a load's own could fail or mean something else: ANSI_QUOTES, ORACLE, IGNORE_SPACE, MSSQL.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
SET sql_mode = 'ORACLE';
INSERT INTO t VALUES (1, 'oracle'), (2, '');
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO u VALUES (1, ''), (2, 'b' || 'c');
SET sql_mode = 'MSSQL,IGNORE_SPACE';
INSERT INTO t VALUES (3, 'mssql'), (4, '');
SET sql_mode = 'EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH,TIME_ROUND_FRACTIONAL,SIMULTANEOUS_ASSIGNMENT';
INSERT INTO t VALUES (5, ''), (6, 'e');
UPDATE t SET v = id, id = id + 10 WHERE id = 6;
SET old_mode = 'NO_DUP_KEY_WARNINGS_WITH_IGNORE,ZERO_DATE_TIME_CAST';
INSERT IGNORE INTO t VALUES (5, 'x'), (7, 'g');
SET sql_mode = DEFAULT, old_mode = DEFAULT;
INSERT INTO t VALUES (8, 'h');
