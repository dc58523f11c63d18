-- fails: 1062
-- A statement fails in one of many transactions: those before it stay, and what stands before it in its own goes.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT, UNIQUE KEY (n));
CREATE TABLE u (id INT PRIMARY KEY, n INT);
BEGIN;
INSERT INTO t (n) VALUES (1), (2);
INSERT INTO u VALUES (1, 1);
COMMIT;
UPDATE u SET n = n + 1;
BEGIN;
INSERT INTO t (n) VALUES (3);
UPDATE u SET n = n + 1;
COMMIT;
BEGIN;
INSERT INTO t (n) VALUES (4);
UPDATE u SET n = n + 1;
INSERT INTO t (n) VALUES (1);
INSERT INTO t (n) VALUES (5);
COMMIT;
UPDATE u SET n = n * 2;
BEGIN;
INSERT INTO t (n) VALUES (6);
INSERT INTO t (n) VALUES (2);
ROLLBACK;
BEGIN;
INSERT INTO t (n) VALUES (7);
COMMIT;
INSERT INTO t (n) VALUES (7);
INSERT INTO t (n) VALUES (8);
