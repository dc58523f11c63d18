-- fails: 1062
-- An error under autocommit=0: what was not committed is rolled back.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
SET autocommit=0;
INSERT INTO t VALUES (1, 1);
COMMIT;
INSERT INTO t VALUES (2, 2);
INSERT INTO t VALUES (1, 3);
INSERT INTO t VALUES (4, 4);
COMMIT;
