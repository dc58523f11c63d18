-- fails: 1062
-- ahead: t
-- A duplicate behind many rows of its statement: all of it is undone. The counter may be ahead, as after any failure.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1,1),(2,2),(3,3),(4,4),(5,5),(6,6);
INSERT INTO t VALUES (11,1),(12,2),(13,3),(14,4),(15,5),(16,6),(17,7),(3,3),(19,9);
INSERT INTO t (v) VALUES (100);
