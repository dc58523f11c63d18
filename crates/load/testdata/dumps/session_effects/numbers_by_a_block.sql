-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A compound block sets how rows are numbered.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO t (v) VALUES (1), (2);
DELIMITER //
BEGIN NOT ATOMIC SET auto_increment_increment = 10, auto_increment_offset = 3; END//
DELIMITER ;
INSERT INTO t (v) VALUES (3), (4);
INSERT INTO t (v) VALUES (5), (6);
DELIMITER //
BEGIN NOT ATOMIC SET insert_id = 1000; END//
DELIMITER ;
INSERT INTO t (v) VALUES (7), (8);
DELIMITER //
BEGIN NOT ATOMIC SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; END//
DELIMITER ;
INSERT INTO t VALUES (0, 9);
