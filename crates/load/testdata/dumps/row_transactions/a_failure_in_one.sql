-- fails: 1062
-- ahead: before_it
-- An INSERT fails within a transaction of rows of a new table: nothing of the transaction stays.
CREATE TABLE before_it (id INT PRIMARY KEY);
SET autocommit = 0;
INSERT INTO before_it VALUES (1), (2);
COMMIT;
CREATE TABLE t (id INT PRIMARY KEY, n INT, UNIQUE KEY (n));
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO t VALUES (3, 3);
INSERT INTO t VALUES (4, 4), (5, 1);
INSERT INTO t VALUES (6, 6);
COMMIT;
INSERT INTO before_it VALUES (3);
COMMIT;
