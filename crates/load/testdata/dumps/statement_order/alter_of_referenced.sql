-- Changes of a parent's definition wait for the rows of its children, and the other way round.
CREATE TABLE parent (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE) ENGINE=InnoDB;
INSERT INTO parent VALUES (1, 1), (2, 2);
INSERT INTO child VALUES (1, 1), (2, 2);
ALTER TABLE parent ADD COLUMN w INT DEFAULT 3;
INSERT INTO child VALUES (3, 1), (4, 2);
ALTER TABLE child DROP FOREIGN KEY child_ibfk_1;
INSERT INTO child VALUES (5, 99);
TRUNCATE TABLE parent;
INSERT INTO child VALUES (6, 98);
DROP TABLE parent;
