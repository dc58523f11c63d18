-- fails: 1064
-- stricter: a dump that ends within a string is cut off, which says more than a syntax error
-- A string that is never closed: what is left is sent at the end of the stream.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, "a");
INSERT INTO t VALUES (2, "b);
INSERT INTO t VALUES (3, 4);
