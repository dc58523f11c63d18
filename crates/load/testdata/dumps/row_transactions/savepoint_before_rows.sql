-- fails: 1305
-- A savepoint under autocommit=0 begins a transaction before any table is used: a COMMIT takes it away.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
SET autocommit = 0;
SAVEPOINT a;
INSERT INTO t VALUES (1, 1);
ROLLBACK TO a;
INSERT INTO t VALUES (2, 2);
COMMIT;
SAVEPOINT b;
INSERT INTO t VALUES (3, 3);
COMMIT;
ROLLBACK TO b;
CREATE TABLE u (id INT PRIMARY KEY);
