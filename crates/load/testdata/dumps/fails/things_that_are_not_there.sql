-- fails: 1305
-- Routines, views and variables that are not there: errors of each kind, one after the other with --force.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
CALL nothing();
INSERT INTO t VALUES (2, no_function(2));
INSERT INTO t VALUES (3, 3);
SET no_such_variable = 1;
SELECT * FROM nothing;
DROP TABLE nothing;
INSERT INTO t VALUES (4, 4);
CREATE TABLE t (id INT);
CREATE VIEW v AS SELECT nothing FROM t;
EXECUTE nothing;
INSERT INTO t VALUES (5, (SELECT id FROM t));
INSERT INTO t VALUES (6, 6);
