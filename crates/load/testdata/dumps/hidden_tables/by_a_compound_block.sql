-- BEGIN NOT ATOMIC creates a temporary table that hides a base table, and drops it.
-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DELIMITER //
BEGIN NOT ATOMIC
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
END//
DELIMITER ;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
SELECT COUNT(*) FROM t;
DELIMITER //
BEGIN NOT ATOMIC
  DROP TEMPORARY TABLE t;
END//
DELIMITER ;
INSERT INTO t VALUES (5, 'base'), (6, 'base');
