-- errors on mysql: they are MariaDB's variables
-- Variables that tell of the statement before: @@last_insert_id, @@identity, @@last_gtid, @@in_transaction, @@rand_seed1.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE log (a BIGINT, b BIGINT, c BIGINT);
INSERT INTO t (v) VALUES (1), (2);
INSERT INTO log VALUES (@@last_insert_id, @@identity, @@in_transaction);
BEGIN;
INSERT INTO log VALUES (@@last_insert_id, @@identity, @@in_transaction);
COMMIT;
SELECT @@last_insert_id, @@identity, @@in_transaction, @@last_gtid;
INSERT INTO t (v) VALUES (3);
SET @n = @@identity;
INSERT INTO log VALUES (@n, LAST_INSERT_ID(), @@in_transaction);
INSERT INTO t VALUES (100, 4);
SELECT @@identity, LAST_INSERT_ID();
