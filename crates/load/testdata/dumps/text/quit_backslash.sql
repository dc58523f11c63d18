-- \q and exit end the stream too.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2); \q
INSERT INTO t VALUES (3);
