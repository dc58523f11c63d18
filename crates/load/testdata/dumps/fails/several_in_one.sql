-- fails: 1062
-- A statement that fails within a text of several: what stands before it in the text is there, what stands behind is not.
CREATE TABLE t (id INT PRIMARY KEY);
DELIMITER //
INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)//
INSERT INTO t VALUES (3)//
