-- fails: 1568
-- not on mysql: it has no variable of this name
-- `SET @@tx_isolation` without a scope is for the next transaction, and an error within one.
CREATE TABLE t (id INT PRIMARY KEY);
SET @@tx_isolation = 'READ-COMMITTED';
SELECT @@tx_isolation;
INSERT INTO t VALUES (1);
SET @@session.tx_isolation = 'SERIALIZABLE';
SELECT @@tx_isolation;
SET autocommit = 0;
INSERT INTO t VALUES (2);
SET @@tx_isolation = 'READ-COMMITTED';
