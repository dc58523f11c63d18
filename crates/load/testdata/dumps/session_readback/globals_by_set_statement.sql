-- errors on mysql: SET STATEMENT is MariaDB's
-- SET GLOBAL behind SET STATEMENT … FOR, before the first row.
SET STATEMENT max_statement_time = 60 FOR SET GLOBAL default_storage_engine = MyISAM, GLOBAL time_zone = '+09:00';
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO t VALUES (1, '2020-01-01 12:00:00'), (2, NULL);
CREATE TABLE u (id INT PRIMARY KEY);
INSERT INTO u VALUES (1), (2);
SET GLOBAL default_storage_engine = DEFAULT, GLOBAL time_zone = SYSTEM;
