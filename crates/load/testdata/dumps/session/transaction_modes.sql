-- errors on mysql: tx_isolation has another name
-- SET TRANSACTION and session isolation, read-only off and on again, SET ROLE, innodb and lock settings.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE;
INSERT INTO t VALUES (1, 1), (2, 2);
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
INSERT INTO t VALUES (3, 3), (4, 4);
SET SESSION TRANSACTION READ ONLY;
SELECT COUNT(*) FROM t;
SET SESSION TRANSACTION READ WRITE;
INSERT INTO t VALUES (5, 5), (6, 6);
SET tx_isolation='READ-UNCOMMITTED';
INSERT INTO t VALUES (7, 7);
SET ROLE NONE;
SET innodb_lock_wait_timeout=5, lock_wait_timeout=5, innodb_strict_mode=OFF;
INSERT INTO t VALUES (8, 8), (9, 9);
SET completion_type=1;
BEGIN;
INSERT INTO t VALUES (10, 10);
COMMIT;
INSERT INTO t VALUES (11, 11);
ROLLBACK;
SET completion_type=0;
COMMIT;
INSERT INTO t VALUES (12, 12);
SELECT @@tx_isolation, @@completion_type;
