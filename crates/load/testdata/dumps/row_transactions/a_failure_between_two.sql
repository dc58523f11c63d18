-- fails: 1062
-- The second of two transactions of rows of one table holds a key of the first: the first stays.
CREATE TABLE t (id INT PRIMARY KEY, n INT);
BEGIN;
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO t VALUES (3, 3);
COMMIT;
BEGIN;
INSERT INTO t VALUES (10, 10);
INSERT INTO t VALUES (11, 11), (2, 3);
INSERT INTO t VALUES (12, 12);
COMMIT;
BEGIN;
INSERT INTO t VALUES (20, 20);
COMMIT;
