-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A compound block sets session variables that later statements run under.
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL, v TINYINT CHECK (v < 13));
DELIMITER //
BEGIN NOT ATOMIC SET SESSION default_storage_engine = MyISAM; END//
DELIMITER ;
CREATE TABLE my (id INT PRIMARY KEY);
INSERT INTO my VALUES (1), (2);
DELIMITER //
BEGIN NOT ATOMIC SET time_zone = '+05:00', check_constraint_checks = 0; END//
DELIMITER ;
INSERT INTO t VALUES (1, '2020-01-01 12:00:00', 99), (2, '2020-01-02 12:00:00', 13);
INSERT INTO t VALUES (3, '2020-01-01 12:00:00', 14);
