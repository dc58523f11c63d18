-- fails: 1062
-- Without transactions the rows before the bad one of the same statement stay.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5)) ENGINE=MyISAM;
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (3, 'c'), (4, 'd'), (1, 'again'), (5, 'e');
INSERT INTO t VALUES (6, 'f');
INSERT INTO t VALUES (7, 'g'), (8, 'too long for it'), (9, 'h');
INSERT INTO t VALUES (10, NULL);
