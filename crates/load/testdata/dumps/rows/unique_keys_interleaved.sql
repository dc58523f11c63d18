-- Several unique keys, rows that free a value and rows that take it again.
CREATE TABLE t (id INT PRIMARY KEY, a INT UNIQUE, b VARCHAR(20), UNIQUE KEY b_prefix (b(3)));
INSERT INTO t VALUES (1, 10, 'aaa1'), (2, 20, 'bbb1');
DELETE FROM t WHERE id = 1;
INSERT INTO t VALUES (3, 10, 'aaa2');
UPDATE t SET a = 30 WHERE id = 3;
INSERT INTO t VALUES (4, 10, 'ccc');
UPDATE t SET id = 5, b = 'ddd' WHERE id = 4;
INSERT INTO t VALUES (4, 40, 'ccc');
REPLACE INTO t VALUES (6, 40, 'eee');
INSERT INTO t VALUES (4, 50, 'ccc');
