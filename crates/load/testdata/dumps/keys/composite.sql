-- Composite foreign keys, with NULL in a part, and a foreign key on a charset column.
CREATE TABLE parent (x INT, y VARCHAR(10) CHARACTER SET latin1, PRIMARY KEY (x, y)) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, x INT, y VARCHAR(10) CHARACTER SET latin1, FOREIGN KEY (x, y) REFERENCES parent (x, y)) ENGINE=InnoDB;
INSERT INTO parent VALUES (1, 'é'), (1, 'b');
INSERT INTO child VALUES (1, 1, 'é'), (2, 1, 'E'), (3, NULL, 'nobody'), (4, 99, NULL);
INSERT INTO parent VALUES (2, 'é'), (2, 'b');
INSERT INTO child VALUES (5, 2, 'É'), (6, 2, 'B');
