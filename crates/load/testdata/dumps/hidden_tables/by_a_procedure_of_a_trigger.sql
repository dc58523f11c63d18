-- A trigger calls a procedure that creates a temporary table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE fires (id INT PRIMARY KEY);
INSERT INTO t VALUES (1, 'base'), (2, 'base');
CREATE PROCEDURE hide() CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TRIGGER hides BEFORE INSERT ON fires FOR EACH ROW CALL hide();
INSERT INTO fires VALUES (1);
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
DROP TEMPORARY TABLE t;
INSERT INTO t VALUES (5, 'base');
