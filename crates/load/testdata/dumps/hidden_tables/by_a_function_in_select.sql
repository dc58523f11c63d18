-- A SELECT calls a stored function that creates a temporary table; a second call of another function drops it.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
CREATE FUNCTION show_again() RETURNS INT MODIFIES SQL DATA
BEGIN
  DROP TEMPORARY TABLE t;
  RETURN 8;
END//
DELIMITER ;
INSERT INTO t VALUES (1, 'base'), (2, 'base');
SELECT hide();
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
SELECT show_again();
INSERT INTO t VALUES (5, 'base'), (6, 'base');
