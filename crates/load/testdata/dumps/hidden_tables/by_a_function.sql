-- A stored function creates a temporary table that hides a base table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE log (n INT);
INSERT INTO t VALUES (1, 'base');
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
DELIMITER ;
INSERT INTO log VALUES (hide());
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
SELECT COUNT(*) FROM t;
DROP TEMPORARY TABLE t;
INSERT INTO t VALUES (5, 'base'), (6, 'base');
