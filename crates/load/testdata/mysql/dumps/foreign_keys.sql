-- fails: 1452
-- Foreign keys and a row without a parent behind rows that have one; cascades through several tables.
CREATE TABLE a (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE b (id INT PRIMARY KEY, a INT, up INT, FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE, FOREIGN KEY (up) REFERENCES b (id) ON DELETE SET NULL) ENGINE=InnoDB;
INSERT INTO a VALUES (1),(2),(3),(4),(5),(6);
INSERT INTO b VALUES (1,1,NULL),(2,2,1),(3,3,1),(4,4,2),(5,5,4);
DELETE FROM a WHERE id = 2;
UPDATE a SET id = 30 WHERE id = 3;
INSERT INTO b VALUES (11,1,1),(12,1,11),(13,99,1),(14,1,1),(15,1,1);
INSERT INTO b VALUES (21,1,1),(22,1,21),(23,1,1),(24,1,1);
SET foreign_key_checks = 0;
INSERT INTO b VALUES (31,98,1),(32,1,97),(33,1,1),(34,1,1);
