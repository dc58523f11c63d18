-- A string that is never closed: the client drops the rest without a word.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, "a");
INSERT INTO t VALUES (2, "b);
INSERT INTO t VALUES (3, 4);
