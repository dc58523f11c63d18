-- fails: 1054
-- A column that is not there, in the list; with --force also in the values and twice.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
INSERT INTO t (id, w) VALUES (2, 2);
INSERT INTO t VALUES (3, 3);
INSERT INTO t VALUES (4, nothing);
INSERT INTO t (id, id) VALUES (5, 5);
INSERT INTO t VALUES (6, 6);
