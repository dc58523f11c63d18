-- errors on mysql: EXECUTE IMMEDIATE is MariaDB's
-- EXECUTE IMMEDIATE and a prepared statement set session variables that no SET of the dump names.
EXECUTE IMMEDIATE 'SET SESSION default_storage_engine = MyISAM';
CREATE TABLE a (id INT PRIMARY KEY);
PREPARE s FROM 'SET SESSION default_storage_engine = Aria';
EXECUTE s;
CREATE TABLE b (id INT PRIMARY KEY);
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (1), (2);
