-- errors on mysql: @@in_transaction is MariaDB's
-- Defaults that read whether a transaction is under way, and autocommit.
CREATE TABLE t (id INT PRIMARY KEY, v INT DEFAULT (@@in_transaction));
CREATE TABLE u (id INT PRIMARY KEY, v INT DEFAULT (@@autocommit));
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO t (id) VALUES (3);
INSERT INTO u (id) VALUES (1), (2);
BEGIN;
INSERT INTO t (id) VALUES (4), (5);
COMMIT;
SET autocommit = 0;
INSERT INTO u (id) VALUES (4);
INSERT INTO t (id) VALUES (6);
COMMIT;
SET autocommit = 1;
INSERT INTO t (id) VALUES (7), (8);
INSERT INTO u VALUES (5, DEFAULT);
