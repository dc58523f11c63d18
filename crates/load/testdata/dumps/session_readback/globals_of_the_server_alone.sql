-- SET GLOBAL of variables that have no session value, of those that have, and what rows run under then.
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO t VALUES (1, '2020-01-01 12:00:00'), (2, NULL);
SET GLOBAL innodb_stats_persistent_sample_pages = 21;
INSERT INTO t VALUES (3, '2020-01-01 12:00:00');
SET GLOBAL time_zone = '+09:00', GLOBAL default_storage_engine = MyISAM;
INSERT INTO t VALUES (4, '2020-01-01 12:00:00');
CREATE TABLE my (id INT PRIMARY KEY);
INSERT INTO my VALUES (1), (2);
SELECT @@time_zone, @@default_storage_engine;
SET GLOBAL time_zone = SYSTEM, GLOBAL default_storage_engine = InnoDB, GLOBAL innodb_stats_persistent_sample_pages = 20;
INSERT INTO my VALUES (3), (4);
