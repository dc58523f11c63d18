-- Flags that a server keeps in one word, one after the other: MariaDB 11.8 reports each under the name of the first.
-- errors on mysql: it has not all of these variables
SET sql_notes=0;
CREATE TABLE checked (id INT PRIMARY KEY, a INT, CHECK (a > 0));
SET check_constraint_checks=0;
INSERT INTO checked VALUES (1,-1),(2,-2);
SET check_constraint_checks=1;
SET foreign_key_checks=0;
CREATE TABLE child (id INT PRIMARY KEY AUTO_INCREMENT, parent INT, FOREIGN KEY (parent) REFERENCES parent (id));
CREATE TABLE parent (id INT PRIMARY KEY);
INSERT INTO child (parent) VALUES (1),(2);
INSERT INTO parent VALUES (2),(1);
SET foreign_key_checks=1, sql_notes=1;
SET sql_auto_is_null=1;
INSERT INTO child (parent) VALUES (1);
UPDATE child SET parent=2 WHERE id IS NULL;
SET sql_auto_is_null=0;
SET explicit_defaults_for_timestamp=0;
CREATE TABLE times (a TIMESTAMP, b TIMESTAMP);
SET explicit_defaults_for_timestamp=1;
SET NAMES latin1;
SET collation_connection=utf8mb4_bin;
CREATE TABLE texts (a VARCHAR(10)) SELECT 'x' AS a;
