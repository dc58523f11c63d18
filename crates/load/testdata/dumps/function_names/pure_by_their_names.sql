-- errors on mysql: its own functions are others
-- Functions of the dump with names of functions of other servers, versions and plug-ins.
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER //
CREATE FUNCTION bin_to_uuid(x TEXT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('bin_to_uuid'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION utf8mb4(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('utf8mb4'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION `null`(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('null'); RETURN (SELECT COUNT(*) FROM log); END//
DELIMITER ;
INSERT INTO log (what) VALUES ('first'), ('second');
INSERT INTO t VALUES (1, bin_to_uuid('x')), (2, bin_to_uuid('y'));
INSERT INTO log (what) VALUES ('third');
INSERT INTO t VALUES (3, utf8mb4(1)), (4, `utf8mb4`(2));
INSERT INTO log (what) VALUES ('fourth');
INSERT INTO t VALUES (5, `null`(1)), (6, `null` (2));
INSERT INTO log (what) VALUES ('fifth');
