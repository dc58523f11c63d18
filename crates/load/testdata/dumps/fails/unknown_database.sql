-- fails: 1049
-- use of a database that is not there; with --force the old one stays.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
USE nowhere;
INSERT INTO t VALUES (2);
