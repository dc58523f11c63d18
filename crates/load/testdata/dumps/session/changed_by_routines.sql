-- Session variables, transactions and defaults that a CALL leaves behind.
-- orphans: 2
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, at TIMESTAMP NULL, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
SET time_zone='+00:00';
DELIMITER //
CREATE PROCEDURE checks(IN on_off INT) BEGIN SET foreign_key_checks = on_off; SET time_zone = IF(on_off, '+01:00', '+09:00'); END//
CREATE PROCEDURE open_one() BEGIN START TRANSACTION; INSERT INTO parent VALUES (50); END//
CREATE PROCEDURE no_commit() SET autocommit = 0//
CREATE PROCEDURE number_from(IN n INT) SET @n = n, auto_increment_increment = n//
DELIMITER ;
CALL checks(0);
INSERT INTO child VALUES (1, 99, '2020-01-01 12:00:00'), (2, 98, '2020-01-01 12:00:00');
CALL checks(1);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (3, 1, '2020-01-01 12:00:00'), (4, 2, '2020-01-01 12:00:00');
CALL open_one();
INSERT INTO parent VALUES (51), (52);
INSERT INTO child VALUES (5, 51, NULL);
ROLLBACK;
INSERT INTO parent VALUES (60);
CALL no_commit();
INSERT INTO parent VALUES (61), (62);
ROLLBACK;
INSERT INTO parent VALUES (63);
COMMIT;
SET autocommit = 1;
CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CALL number_from(10);
INSERT INTO n (v) VALUES (1), (@n);
INSERT INTO n (v) VALUES (3), (4);
SELECT @@foreign_key_checks, @@time_zone, @@autocommit;
