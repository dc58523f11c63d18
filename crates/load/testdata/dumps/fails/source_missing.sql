-- fails: client
-- source of a file that is not there.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
source nowhere/nothing.sql
INSERT INTO t VALUES (2);
