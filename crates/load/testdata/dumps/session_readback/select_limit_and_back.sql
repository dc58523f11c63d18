-- sql_select_limit is 0, then 1, then back, with session variables set meanwhile.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
SET @mode = @@sql_mode, @zone = @@time_zone;
SET sql_select_limit = 0, time_zone = '+05:00', foreign_key_checks = 0;
INSERT INTO t SELECT id + 10, v FROM t;
INSERT INTO t VALUES (3, 3), (4, 4);
CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO u (at) VALUES ('2020-01-01 12:00:00'), (NULL);
SET sql_select_limit = 1;
SELECT id FROM t ORDER BY id;
SET auto_increment_increment = 5;
INSERT INTO u (at) VALUES ('2020-01-01 12:00:00'), (NULL);
INSERT INTO t VALUES (5, 5), (6, 6);
SET sql_select_limit = 18446744073709551615, time_zone = @zone;
SELECT COUNT(*) FROM t;
INSERT INTO u (at) VALUES ('2020-01-01 12:00:00'), (NULL);
