CREATE TABLE t (id INT PRIMARY KEY); -- A byte order mark right before a statement.
INSERT INTO t VALUES (1);
