-- errors on mysql: the engine Aria is MariaDB's
-- Stored functions, called by SELECT, DO, SET, INSERT, UPDATE and a view, set session variables.
DELIMITER //
CREATE FUNCTION set_engine(name VARCHAR(20)) RETURNS INT
BEGIN
  SET default_storage_engine = name;
  RETURN 1;
END//
DELIMITER ;
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
INSERT INTO log (n) VALUES (0), (0);
SELECT set_engine('MyISAM');
CREATE TABLE a (id INT PRIMARY KEY);
DO set_engine('Aria');
CREATE TABLE b (id INT PRIMARY KEY);
SET @n = set_engine('MEMORY');
CREATE TABLE c (id INT PRIMARY KEY);
INSERT INTO log (n) VALUES (set_engine('MyISAM'));
CREATE TABLE d (id INT PRIMARY KEY);
UPDATE log SET n = set_engine('Aria') WHERE id = 1;
CREATE TABLE e (id INT PRIMARY KEY);
CREATE VIEW v AS SELECT set_engine('MyISAM');
SELECT * FROM v;
CREATE TABLE f (id INT PRIMARY KEY);
INSERT INTO log (n) SELECT set_engine('InnoDB');
CREATE TABLE g (id INT PRIMARY KEY);
CREATE TABLE h SELECT set_engine('Aria') AS n;
CREATE TABLE i (id INT PRIMARY KEY);
