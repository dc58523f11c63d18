-- only with force: the function and the trigger fail
-- A function and a trigger set a variable of the session and fail then: the server reports nothing, and it stays set.
CREATE TABLE t (id INT PRIMARY KEY, c TIMESTAMP NULL);
CREATE TABLE u (id INT PRIMARY KEY, c TIMESTAMP NULL);
CREATE TABLE w (id INT PRIMARY KEY, c TIMESTAMP NULL);
DELIMITER //
CREATE FUNCTION f() RETURNS INT BEGIN SET time_zone = '+05:00'; SIGNAL SQLSTATE '45000'; RETURN 1; END//
CREATE TRIGGER u_b BEFORE INSERT ON u FOR EACH ROW BEGIN SET time_zone = '+07:00'; SIGNAL SQLSTATE '45000'; END//
DELIMITER ;
SELECT f();
INSERT INTO t VALUES (1, '2020-01-01 00:00:00'), (2, '2020-01-01 00:00:00');
INSERT INTO u VALUES (1, '2020-01-01 00:00:00');
INSERT INTO w VALUES (1, '2020-01-01 00:00:00'), (2, '2020-01-01 00:00:00');
SELECT @@time_zone;
