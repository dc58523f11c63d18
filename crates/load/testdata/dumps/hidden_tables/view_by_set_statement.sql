-- SET STATEMENT … FOR calls a function that creates a temporary table over the name of a view.
-- errors on mysql: SET STATEMENT is MariaDB's
CREATE TABLE base (id INT PRIMARY KEY, v VARCHAR(20));
CREATE VIEW seen AS SELECT * FROM base;
INSERT INTO seen VALUES (1, 'base'), (2, 'base');
CREATE TABLE log (n INT);
DELIMITER //
CREATE FUNCTION hide() RETURNS INT MODIFIES SQL DATA
BEGIN
  CREATE TEMPORARY TABLE seen (id INT PRIMARY KEY, v VARCHAR(20));
  RETURN 7;
END//
DELIMITER ;
SET STATEMENT max_statement_time = 60 FOR INSERT INTO log VALUES (hide());
INSERT INTO seen VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO seen VALUES (4, 'temporary');
