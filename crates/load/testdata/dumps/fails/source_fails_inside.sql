-- only with force: without it the client ends only the sourced file, goes on behind it and exits with 0; Hortator stops
-- An error within a sourced file: the file and the line are those of the inner one.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
source inner/duplicate.sql
INSERT INTO t VALUES (4);
