-- fails: 1906; on mysql: 3105
-- A value for a generated column in strict mode.
CREATE TABLE t (id INT PRIMARY KEY, a INT, v INT AS (a * 2) VIRTUAL);
INSERT INTO t (id, a) VALUES (1, 1);
INSERT INTO t VALUES (2, 2, DEFAULT), (3, 3, 6);
INSERT INTO t (id, a, v) VALUES (4, 4, 8);
INSERT INTO t (id, a) VALUES (5, 5);
