-- fails: 1136
-- A row of the wrong length within a statement: nothing of it stays, also in MyISAM.
CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE=MyISAM;
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO t VALUES (3, 3), (4), (5, 5);
INSERT INTO t VALUES (6, 6);
INSERT INTO t VALUES (7, 7, 7);
INSERT INTO t (id) VALUES (8), (9, 9);
INSERT INTO t VALUES (10, 10), ();
INSERT INTO t VALUES (11, 11);
