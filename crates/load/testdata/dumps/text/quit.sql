-- quit ends the stream: what follows is not run.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
quit
INSERT INTO t VALUES (2);
