-- SET STATEMENT … FOR creates a temporary table that hides a base table.
-- errors on mysql: SET STATEMENT is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
SET STATEMENT default_storage_engine = MyISAM FOR CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
SELECT COUNT(*) FROM t;
DROP TEMPORARY TABLE t;
INSERT INTO t VALUES (5, 'base');
