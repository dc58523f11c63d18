-- errors on mysql: its generated columns read no variable
-- A virtual column that assigns a user variable, of the session that has opened the table first.
SET @a = 0;
CREATE TABLE t (id INT, b BLOB AS (LAST_VALUE(@a := @a + 1, id)) VIRTUAL);
INSERT INTO t (id) VALUES (1), (2);
SELECT * FROM t;
SELECT @a;
INSERT INTO t (id) VALUES (3);
INSERT INTO t (id) VALUES (4), (5);
CREATE TABLE seen AS SELECT @a AS a;
SELECT @a;
-- MariaDB may crash when another session reads the column: it looks for the variables of the one that has opened the table.
ALTER TABLE t DROP COLUMN b;
