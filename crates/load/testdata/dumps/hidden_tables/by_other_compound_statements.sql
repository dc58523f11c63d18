-- IF, WHILE and CASE outside of a routine create or drop a temporary table.
-- errors on mysql: compound statements outside of a routine are MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DELIMITER //
IF 1 = 1 THEN CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); END IF//
DELIMITER ;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
DELIMITER //
CASE 1 WHEN 1 THEN DROP TEMPORARY TABLE t; END CASE//
DELIMITER ;
INSERT INTO t VALUES (3, 'base'), (4, 'base');
DELIMITER //
SET @n = 1//
WHILE @n > 0 DO CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); SET @n = @n - 1; END WHILE//
DELIMITER ;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
DELIMITER //
REPEAT DROP TEMPORARY TABLE t; UNTIL 1 END REPEAT//
DELIMITER ;
INSERT INTO t VALUES (5, 'base'), (6, 'base');
