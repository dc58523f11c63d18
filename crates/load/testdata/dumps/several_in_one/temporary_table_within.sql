-- Under another delimiter: a temporary table is created between two routines, in one text.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DELIMITER //
CREATE PROCEDURE p() SELECT 1; CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); CREATE FUNCTION f() RETURNS INT BEGIN RETURN 1; END//
DELIMITER ;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
SELECT COUNT(*) FROM t;
