-- only with force: the block fails
-- A block creates a temporary table that hides the base table, and fails then: the server reports nothing of it.
CREATE TABLE t (id INT PRIMARY KEY, n INT);
CREATE TABLE u (id INT PRIMARY KEY, n INT);
CREATE TABLE w (id INT PRIMARY KEY, n INT);
DELIMITER //
BEGIN NOT ATOMIC
  CREATE TEMPORARY TABLE t (id INT, n INT);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'on purpose';
END//
IF 1 THEN
  CREATE TEMPORARY TABLE IF NOT EXISTS w (id INT, n INT);
  TRUNCATE TABLE nowhere;
END IF//
CREATE PROCEDURE p() BEGIN CREATE TEMPORARY TABLE u (id INT, n INT); INSERT INTO nowhere VALUES (1); END//
DELIMITER ;
INSERT INTO t VALUES (1, 1), (1, 2);
CALL p();
INSERT INTO u VALUES (1, 1), (1, 2);
SELECT * FROM t;
INSERT INTO w VALUES (1, 1), (1, 2);
SELECT * FROM u;
SELECT * FROM w;
