-- Results in a character set that ASCII is no part of, while a block leaves open what it has set.
-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(30));
SET character_set_results=ucs2;
DELIMITER //
BEGIN NOT ATOMIC SET unique_checks=0; END//
DELIMITER ;
INSERT INTO t VALUES (1,'a'),(2,'b');
SET character_set_results=utf32;
DELIMITER //
BEGIN NOT ATOMIC SET unique_checks=1; END//
DELIMITER ;
INSERT INTO t VALUES (3,'c');
SET character_set_results=utf8mb4;
SELECT * FROM t;
