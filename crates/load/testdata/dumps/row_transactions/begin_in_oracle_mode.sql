-- fails: 1064
-- not on mysql: it has no such mode
-- In Oracle's mode, BEGIN is the beginning of a block.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
SET sql_mode = 'ORACLE';
START TRANSACTION;
INSERT INTO t VALUES (1, 1);
COMMIT;
BEGIN;
INSERT INTO t VALUES (2, 2);
COMMIT;
