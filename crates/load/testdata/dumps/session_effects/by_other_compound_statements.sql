-- errors on mysql: compound statements outside of a routine are MariaDB's
-- IF, CASE, FOR and REPEAT outside of a routine set session variables.
DELIMITER //
IF 1 THEN SET default_storage_engine = MyISAM; END IF//
CREATE TABLE a (id INT PRIMARY KEY)//
CASE WHEN 1 THEN SET default_storage_engine = Aria; END CASE//
CREATE TABLE b (id INT PRIMARY KEY)//
FOR i IN 1..1 DO SET default_storage_engine = MyISAM; END FOR//
CREATE TABLE c (id INT PRIMARY KEY)//
REPEAT SET default_storage_engine = Aria; UNTIL 1 END REPEAT//
CREATE TABLE d (id INT PRIMARY KEY)//
DELIMITER ;
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (1), (2);
INSERT INTO c VALUES (1), (2);
INSERT INTO d VALUES (1), (2);
