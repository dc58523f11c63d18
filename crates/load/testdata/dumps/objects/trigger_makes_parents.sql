-- A trigger that writes to the parent of another table: children whose parents only a trigger makes.
CREATE TABLE source_rows (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
CREATE TRIGGER makes_parents AFTER INSERT ON source_rows FOR EACH ROW INSERT INTO parent VALUES (NEW.id);
INSERT INTO source_rows VALUES (1), (2), (3);
INSERT INTO child VALUES (1, 1), (2, 3);
INSERT INTO source_rows VALUES (4), (5);
INSERT INTO child VALUES (3, 5), (4, 4);
INSERT IGNORE INTO child VALUES (5, 6);
INSERT INTO source_rows VALUES (6);
