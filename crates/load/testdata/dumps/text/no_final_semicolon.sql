-- The last statement has neither semicolon nor line end.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2)