-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- SET GLOBAL in a compound block, before the first row: connections that open later begin with the new value.
DELIMITER //
BEGIN NOT ATOMIC SET GLOBAL default_storage_engine = MyISAM, GLOBAL time_zone = '+09:00', GLOBAL sql_mode = ''; END//
DELIMITER ;
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO t VALUES (1, '2020-01-01 12:00:00'), (2, NULL);
CREATE TABLE u (id INT PRIMARY KEY);
INSERT INTO u VALUES (1), (2);
SET GLOBAL default_storage_engine = DEFAULT, GLOBAL time_zone = SYSTEM, GLOBAL sql_mode = DEFAULT;
