-- No USE at all: everything lands in the database that was named on the command line.
CREATE TABLE t (id INT PRIMARY KEY, d VARCHAR(64) DEFAULT (DATABASE()));
INSERT INTO t (id) VALUES (1), (2), (3);
INSERT INTO t VALUES (4, 'four'), (5, DEFAULT);
