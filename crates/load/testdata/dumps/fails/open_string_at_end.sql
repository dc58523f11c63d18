-- fails: 1064
-- A string that is never closed: what is left is sent at the end of the stream.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, "a");
INSERT INTO t VALUES (2, "b);
INSERT INTO t VALUES (3, 4);
