-- fails: 1146
-- Under another delimiter: the second of three statements fails; the third never runs.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
DELIMITER //
INSERT INTO t VALUES (3); INSERT INTO nowhere VALUES (1); TRUNCATE TABLE t//
CREATE PROCEDURE p() SELECT 1; DROP TABLE nowhere; CREATE FUNCTION f() RETURNS INT BEGIN RETURN 1; END//
DELIMITER ;
INSERT INTO t VALUES (4), (5);
