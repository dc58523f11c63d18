-- errors on mysql: SET STATEMENT is MariaDB's
-- What SET STATEMENT … FOR runs changes the session for good: SET and a function.
DELIMITER //
CREATE FUNCTION engine(name VARCHAR(20)) RETURNS INT BEGIN SET default_storage_engine = name; RETURN 1; END//
DELIMITER ;
SET STATEMENT max_statement_time = 60 FOR DO engine('MyISAM');
CREATE TABLE a (id INT PRIMARY KEY);
SET STATEMENT max_statement_time = 60 FOR SELECT engine('Aria');
CREATE TABLE b (id INT PRIMARY KEY);
SET STATEMENT sql_mode = '' FOR CREATE TABLE c (id TINYINT PRIMARY KEY);
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (1), (2);
