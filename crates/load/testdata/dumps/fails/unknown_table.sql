-- fails: 1146
-- Rows for a table that is not there (yet).
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
INSERT INTO later VALUES (1), (2);
INSERT INTO t VALUES (2);
CREATE TABLE later (id INT PRIMARY KEY);
INSERT INTO later VALUES (3);
