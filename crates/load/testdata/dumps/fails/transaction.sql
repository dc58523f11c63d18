-- fails: 1062
-- An error within BEGIN … COMMIT: the client hangs up and the server rolls the transaction back; with --force it goes on in it.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
BEGIN;
INSERT INTO t VALUES (2, 2), (3, 3);
INSERT INTO t VALUES (4, 4), (1, 1);
INSERT INTO t VALUES (5, 5);
COMMIT;
INSERT INTO t VALUES (6, 6);
