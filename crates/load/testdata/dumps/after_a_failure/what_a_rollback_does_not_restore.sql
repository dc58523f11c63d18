-- fails: 1062
-- Statements before a transaction that fails, and in it, read what no rollback restores: they must not be done twice.
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, m VARCHAR(20));
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10));
CREATE TABLE seen (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20));
CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET @fired = IFNULL(@fired, 0) + 1;
INSERT INTO t VALUES (1, 'x'), (2, 'y');
INSERT INTO log (m) VALUES ('a');
INSERT INTO log (m) VALUES (LAST_INSERT_ID());
BEGIN;
INSERT INTO log (m) VALUES ('k');
INSERT INTO log VALUES (1, 'dup');
COMMIT;
SET @n = 0, @@rand_seed1 = 1, @@rand_seed2 = 2;
UPDATE log SET m = 'b' WHERE n = 1;
BEGIN;
UPDATE log SET m = (@n := @n + 1);
UPDATE t SET a = LEFT(RAND(), 8);
INSERT INTO log VALUES (1, 'dup');
COMMIT;
UPDATE log SET m = CONCAT(m, '!') WHERE n = 2;
BEGIN;
UPDATE t SET a = CONCAT(a, '?');
INSERT INTO t VALUES (1, 'dup');
COMMIT;
SELECT @n, @fired, RAND();
SELECT * FROM log;
SELECT * FROM t;
