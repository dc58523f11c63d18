-- errors on mysql: REPLACE deletes no other rows of the child
-- REPLACE of a parent's row deletes its children by ON DELETE CASCADE.
CREATE TABLE parent (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB;
INSERT INTO parent VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO child VALUES (1, 1), (2, 2), (3, 2), (4, 3);
REPLACE INTO parent VALUES (2, 20);
INSERT INTO child VALUES (5, 2);
REPLACE INTO parent VALUES (3, 30), (4, 40);
INSERT INTO child VALUES (6, 4), (4, 3);
UPDATE parent SET id = 10 WHERE id = 1;
INSERT INTO child VALUES (7, 10);
DELETE FROM parent WHERE id = 2;
