-- fails: 1452
-- A child without its parent, whose parent comes later in the stream: it must fail all the same.
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (1, 1), (2, 2);
INSERT INTO child VALUES (3, 1), (4, 3), (5, 2);
INSERT INTO parent VALUES (3), (4);
INSERT INTO child VALUES (6, 3);
