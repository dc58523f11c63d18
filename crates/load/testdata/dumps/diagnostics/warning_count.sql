-- errors on mysql: it has no sql_mode NO_AUTO_CREATE_USER
-- @@warning_count and @@error_count behind rows with warnings and behind SET, in SELECT, SET and VALUES.
CREATE TABLE t (id INT PRIMARY KEY, n TINYINT);
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT, e BIGINT);
SET sql_mode = '';
INSERT INTO t VALUES (1, 999), (2, 'x'), (3, 3);
INSERT INTO log (n, e) VALUES (@@warning_count, @@error_count);
INSERT INTO t VALUES (4, 999), (5, 'x');
SET @n = @@warning_count;
INSERT INTO log (n) VALUES (@n);
INSERT IGNORE INTO t VALUES (5, 5), (4, 4), (3, 3);
SELECT @@warning_count, @@error_count;
CREATE TABLE IF NOT EXISTS t (id INT);
SELECT @@warning_count;
SHOW WARNINGS;
DROP TABLE IF EXISTS nowhere, nowhere_else;
SELECT @@warning_count;
SHOW WARNINGS;
DROP VIEW IF EXISTS nowhere;
SHOW WARNINGS;
CREATE DATABASE IF NOT EXISTS hortator_case;
SHOW WARNINGS;
SET max_error_count = 1000000;
SHOW WARNINGS;
SET sql_mode = 'NO_AUTO_CREATE_USER,ANSI_QUOTES';
SELECT @@warning_count;
