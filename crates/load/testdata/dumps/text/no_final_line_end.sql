-- The last line is a client command without a line end.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
CREATE DATABASE other;
use other
CREATE TABLE u (id INT);
INSERT INTO u VALUES (1)\g