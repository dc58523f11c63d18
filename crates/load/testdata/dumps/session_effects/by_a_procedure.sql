-- errors on mysql: the engine Aria is MariaDB's
-- A procedure sets session variables that no SET of the dump names.
CREATE PROCEDURE engine(IN name VARCHAR(20)) SET SESSION default_storage_engine = name;
CREATE TABLE a (id INT PRIMARY KEY);
CALL engine('MyISAM');
CREATE TABLE b (id INT PRIMARY KEY);
INSERT INTO b VALUES (1), (2);
CALL engine('Aria');
CREATE TABLE c (id INT PRIMARY KEY);
INSERT INTO c VALUES (1), (2);
