-- errors on mysql: the variable is MariaDB's
-- A transaction that reads and then may not change what others have changed since: not even the load's own records.
SET SESSION innodb_snapshot_isolation = ON;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT) ENGINE=InnoDB;
CREATE TABLE m (id INT PRIMARY KEY AUTO_INCREMENT, a INT) ENGINE=MyISAM;
INSERT INTO t (a) VALUES (1);
BEGIN;
SELECT COUNT(*) FROM t;
INSERT INTO t (a) SELECT a FROM t;
INSERT INTO m (a) VALUES (2);
UPDATE t SET a = a + 1;
COMMIT;
SET autocommit=0;
SELECT COUNT(*) FROM t;
INSERT INTO t (a) SELECT a FROM t;
COMMIT;
INSERT INTO t (a) VALUES (7);
SET SESSION innodb_snapshot_isolation = OFF;
BEGIN;
SELECT COUNT(*) FROM t;
INSERT INTO t (a) SELECT a + 1 FROM t;
COMMIT;
SELECT * FROM t;
SELECT @@innodb_snapshot_isolation;
