-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- orphans: 2
-- A compound block and a function switch foreign key checks off and on.
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
DELIMITER //
BEGIN NOT ATOMIC SET foreign_key_checks = 0; END//
CREATE FUNCTION checks(n INT) RETURNS INT BEGIN SET foreign_key_checks = n; RETURN n; END//
DELIMITER ;
INSERT INTO child VALUES (1, 98), (2, 99);
SELECT checks(1);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (3, 1), (4, 2);
