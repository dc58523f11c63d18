-- fails: 1062
-- A function has put a row into a new table: REPLACE behind a failure does not take it away.
DROP TABLE IF EXISTS t, u;
SET foreign_key_checks = 0;
CREATE TABLE u (id INT PRIMARY KEY, h VARCHAR(128) AS (SHA2(REPEAT(id, 300000), 512)) STORED);
CREATE TABLE t (id INT PRIMARY KEY, v CHAR(1));
DELIMITER //
CREATE FUNCTION f() RETURNS INT BEGIN INSERT INTO t VALUES (1, 'a'); RETURN 1; END//
DELIMITER ;
SELECT f();
INSERT INTO u (id) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (1);
REPLACE INTO t VALUES (1, 'b');
