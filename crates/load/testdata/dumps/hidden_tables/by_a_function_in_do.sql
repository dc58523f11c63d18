-- DO calls a stored function that creates a temporary table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
DELIMITER ;
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DO hide();
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
