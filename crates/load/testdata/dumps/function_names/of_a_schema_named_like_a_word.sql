-- Functions of schemas whose names are those of charsets, literals or built-in functions.
CREATE DATABASE utf8;
CREATE DATABASE `date`;
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER //
CREATE FUNCTION utf8.concat(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO hortator_case.log (what) VALUES ('utf8'); RETURN (SELECT COUNT(*) FROM hortator_case.log); END//
CREATE FUNCTION `date`.now(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO hortator_case.log (what) VALUES ('date'); RETURN (SELECT COUNT(*) FROM hortator_case.log); END//
DELIMITER ;
INSERT INTO log (what) VALUES ('first'), ('second');
INSERT INTO t VALUES (1, utf8.concat(1)), (2, utf8.concat(2));
INSERT INTO log (what) VALUES ('third');
INSERT INTO t VALUES (3, date.now(1)), (4, `date`.now(2));
INSERT INTO log (what) VALUES ('fourth');
