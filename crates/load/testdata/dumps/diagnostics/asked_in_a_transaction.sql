-- errors on mysql: it has no @@in_transaction, and no compound statements outside of routines
-- Within a transaction, a procedure or a block asks what the statement before it did, and may end the transaction.
CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT) ENGINE=InnoDB;
CREATE PROCEDURE counts() SELECT ROW_COUNT();
DELIMITER //
CREATE PROCEDURE counts_and_commits() BEGIN SELECT ROW_COUNT(); COMMIT; END//
CREATE PROCEDURE counts_and_rolls_back() BEGIN SELECT ROW_COUNT(); ROLLBACK; END//
DELIMITER ;
BEGIN;
INSERT INTO t VALUES (1, 1), (2, 2);
CALL counts();
INSERT INTO t VALUES (3, 3), (4, 4), (5, 5);
CALL counts_and_commits();
INSERT INTO t VALUES (6, 6);
ROLLBACK;
SET autocommit = 0;
UPDATE t SET b = b + 1;
CALL counts();
UPDATE t SET b = b + 1 WHERE a < 4;
CALL counts_and_rolls_back();
DELETE FROM t WHERE a IN (1, 2);
DELIMITER //
IF 1 THEN SELECT ROW_COUNT(); SET @y = 1; END IF//
DELIMITER ;
COMMIT;
SET autocommit = 1;
BEGIN;
INSERT INTO t (b) VALUES (7), (8);
SET sql_select_limit = DEFAULT;
CALL counts();
INSERT INTO t (b) VALUES (9), (10);
CALL counts_and_commits();
SELECT ROW_COUNT();
BEGIN;
INSERT INTO t (b) VALUES (11), (12);
SELECT COUNT(*) FROM t;
CALL counts();
INSERT INTO t (b) VALUES (13), (14);
USE hortator_case;
CALL counts();
UPDATE t SET b = b + 1;
SELECT 'a constant';
CALL counts();
COMMIT;
-- What is on record of a transaction that has ended must not begin another.
SET autocommit = 0;
INSERT INTO t (b) VALUES (15), (16);
CALL counts_and_commits();
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET collation_connection = utf8mb4_bin;
SELECT @@in_transaction;
ROLLBACK;
SELECT * FROM t;
