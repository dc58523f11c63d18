-- fails: 1051
-- A statement that fails has committed the rows before it.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
BEGIN;
INSERT INTO t VALUES (1, 1);
INSERT INTO t VALUES (2, 2);
INSERT INTO t VALUES (3, 3);
DROP TABLE nosuch;
INSERT INTO t VALUES (4, 4);
INSERT INTO t VALUES (5, 5);
COMMIT;
