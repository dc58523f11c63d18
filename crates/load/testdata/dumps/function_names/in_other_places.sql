-- errors on mysql: its own functions are others
-- Functions of the dump with such names in ON DUPLICATE KEY UPDATE, SET, SELECT, DEFAULT and CREATE TABLE.
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER //
CREATE FUNCTION n(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (what) VALUES ('n'); RETURN (SELECT COUNT(*) FROM log); END//
DELIMITER ;
INSERT INTO log (what) VALUES ('first'), ('second');
SET @n = n(1);
INSERT INTO log (what) VALUES ('third');
SELECT n(2);
INSERT INTO t VALUES (1, @n), (2, 2);
INSERT INTO t SET id = 3, v = n(3);
INSERT INTO log (what) VALUES ('fourth');
INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = n(4);
INSERT INTO log (what) VALUES ('fifth');
REPLACE INTO t VALUES (2, n(5));
INSERT INTO log (what) VALUES ('sixth');
INSERT IGNORE INTO t VALUES (1, n(5)), (7, 7);
INSERT INTO log (what) VALUES ('seventh');
