-- A view calls a stored function that creates a temporary table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
DELIMITER ;
CREATE VIEW hidden AS SELECT hide() AS n;
SELECT * FROM hidden;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
