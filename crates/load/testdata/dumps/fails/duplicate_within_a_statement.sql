-- fails: 1062
-- A duplicate key in the middle of one statement: the statement leaves nothing, those before it stay.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (3, 'c');
INSERT INTO t VALUES (4, 'd'), (5, 'e'), (4, 'again'), (6, 'f');
INSERT INTO t VALUES (7, 'never');
INSERT INTO t VALUES (8, 'never');
