-- Both checks off and empty tables, as a dump's head sets them: MariaDB's bulk insert.
-- orphans: 2
SET unique_checks=0, foreign_key_checks=0;
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(10), KEY (v)) ENGINE=InnoDB;
CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, a INT, FOREIGN KEY (a) REFERENCES a (id)) ENGINE=InnoDB;
INSERT INTO b (a) VALUES (1), (2), (3);
INSERT INTO a VALUES (3, 'c'), (2, 'b');
INSERT INTO a VALUES (1, 'a');
INSERT INTO b VALUES (10, 99), (NULL, 98);
INSERT INTO b VALUES (12, 1);
SET unique_checks=1, foreign_key_checks=1;
INSERT INTO a VALUES (4, 'd');
INSERT INTO b (a) VALUES (4);
BEGIN;
INSERT INTO a VALUES (5, 'e');
ROLLBACK;
