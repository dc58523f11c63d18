-- fails: 1451
-- A parent's row is deleted while a child has it.
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (1, 2);
DELETE FROM parent WHERE id = 2;
INSERT INTO parent VALUES (3);
