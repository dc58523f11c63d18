-- fails: 1062
-- A unique key added after the rows finds a duplicate.
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO t VALUES (2, 3), (3, 4);
ALTER TABLE t ADD PRIMARY KEY (id);
INSERT INTO t VALUES (9, 9);
