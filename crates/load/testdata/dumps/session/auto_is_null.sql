-- Under sql_auto_is_null, `IS NULL` finds the row that the last INSERT has added, once.
CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
INSERT INTO t (b) VALUES (1), (2);
SET sql_auto_is_null = 1;
INSERT INTO t (b) VALUES (3);
CREATE TABLE found AS SELECT a, b FROM t WHERE a IS NULL;
CREATE TABLE not_found AS SELECT a, b FROM t WHERE a IS NULL;
INSERT INTO t (b) VALUES (4), (5);
SELECT a, b FROM t WHERE a IS NULL;
SET sql_auto_is_null = 0;
INSERT INTO t (b) VALUES (6);
SELECT a, b FROM t WHERE a IS NULL;
SELECT * FROM found;
SELECT * FROM not_found;
