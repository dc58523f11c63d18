-- Defaults that read or set user variables, in rows that leave their columns out or say DEFAULT.
-- errors on mysql: it lets no default read a user variable
CREATE TABLE t (id INT PRIMARY KEY, v INT DEFAULT (@x));
CREATE TABLE u (id INT PRIMARY KEY, v INT DEFAULT (@n := @n + 1));
SET @x = 5, @n = 10;
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO t VALUES (3, DEFAULT), (4, 4);
INSERT INTO u (id) VALUES (1), (2);
INSERT INTO u (id) VALUES (3);
SET @x = 6;
INSERT INTO t (id) VALUES (5), (6);
INSERT INTO u VALUES (4, DEFAULT), (5, 5);
INSERT INTO u SET id = 6;
SELECT @n;
INSERT INTO t VALUES (7, 7);
REPLACE INTO t (id) VALUES (8), (1);
INSERT IGNORE INTO t (id) VALUES (9), (2);
