-- fails: 1062
-- Two statements meet in a key: it is the later one in the stream that must fail, though chunks run side by side.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'one'), (2, 'two');
INSERT INTO t VALUES (3, 'the first stays'), (4, 'four');
INSERT INTO t VALUES (5, 'five'), (3, 'the second fails');
INSERT INTO t VALUES (6, 'six');
