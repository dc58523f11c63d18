-- A function of a schema has the name of a built-in one.
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER //
CREATE FUNCTION hortator_case.unhex(x TEXT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('unhex'); RETURN (SELECT COUNT(*) FROM log); END//
CREATE FUNCTION hortator_case.`concat`(x TEXT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('concat'); RETURN (SELECT COUNT(*) FROM log); END//
DELIMITER ;
INSERT INTO log (what) VALUES ('first'), ('second');
INSERT INTO t VALUES (1, hortator_case.unhex('41')), (2, hortator_case.unhex('42'));
INSERT INTO log (what) VALUES ('third');
INSERT INTO t VALUES (3, hortator_case . concat('a')), (4, hortator_case.`concat`('a'));
INSERT INTO log (what) VALUES ('fourth');
