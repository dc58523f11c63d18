-- errors on mysql: it has UUID_TO_BIN and no function of the names here
-- Functions of the dump whose names are taken for the server's own: they write, and read what is there.
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER //
CREATE FUNCTION UUID_TO_BIN(x TEXT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('uuid'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION n(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('n'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION b(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('b'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION utf8(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('utf8'); RETURN (SELECT COUNT(*) FROM log); END//
DELIMITER ;
INSERT INTO log (what) VALUES ('first'), ('second');
INSERT INTO t VALUES (1, UUID_TO_BIN('x')), (2, UUID_TO_BIN('y'));
INSERT INTO log (what) VALUES ('third');
INSERT INTO t VALUES (3, n(1)), (4, n (2));
INSERT INTO log (what) VALUES ('fourth');
INSERT INTO t VALUES (7, b(1)), (8, b (2));
INSERT INTO log (what) VALUES ('sixth');
INSERT INTO t VALUES (9, utf8(1)), (10, utf8 (2));
INSERT INTO log (what) VALUES ('seventh');
