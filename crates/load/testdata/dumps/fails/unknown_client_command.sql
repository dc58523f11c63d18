-- fails: client
-- A backslash command that the client does not know.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
\y
INSERT INTO t VALUES (2);
