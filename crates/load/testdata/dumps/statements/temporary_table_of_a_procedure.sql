-- A temporary table that a CALL leaves behind hides a table of the same name.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
CREATE PROCEDURE shadow() CREATE TEMPORARY TABLE t (a INT, b INT);
INSERT INTO t VALUES (1, '007'), (2, 'b');
CALL shadow();
INSERT INTO t VALUES (1, 2), (1, 3);
SELECT SUM(b) FROM t;
DROP TEMPORARY TABLE t;
INSERT INTO t VALUES (13, '013'), (14, 14);
