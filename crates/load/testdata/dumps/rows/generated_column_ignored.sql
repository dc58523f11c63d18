-- errors on mysql: a generated column takes no value, not even with IGNORE
-- A value for a generated column: an error in strict mode (see fails), dropped with a warning otherwise.
CREATE TABLE t (id INT PRIMARY KEY, a INT, v INT AS (a * 2) VIRTUAL, s INT AS (a + 1) STORED);
SET sql_mode='';
INSERT INTO t VALUES (1, 10, 999, 999), (2, 20, 40, 21);
INSERT IGNORE INTO t VALUES (3, 30, 999, DEFAULT), (4, 40, DEFAULT, 7);
SET sql_mode=DEFAULT;
INSERT INTO t (id, a) VALUES (5, 50);
