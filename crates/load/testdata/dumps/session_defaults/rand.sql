-- RAND() in a default, behind SET rand_seed1 and rand_seed2.
CREATE TABLE t (id INT PRIMARY KEY, v DOUBLE DEFAULT (RAND()));
SET rand_seed1 = 11, rand_seed2 = 22;
INSERT INTO t (id) VALUES (1), (2), (3);
INSERT INTO t (id) VALUES (4);
INSERT INTO t (id) VALUES (5), (6);
SET @unused = 1;
INSERT INTO t VALUES (7, DEFAULT), (8, 0.5);
