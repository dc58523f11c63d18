-- ANALYZE runs a SELECT of a stored function that creates a temporary table.
-- errors on mysql: ANALYZE of a SELECT is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
CREATE TABLE rows_of (id INT PRIMARY KEY);
INSERT INTO rows_of VALUES (1);
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
DELIMITER ;
ANALYZE UPDATE rows_of SET id = hide();
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
