-- INSERT IGNORE with foreign keys: orphans are dropped in silence, so the parent's rows must be there or not, as in the stream.
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
INSERT INTO parent VALUES (1), (2);
INSERT IGNORE INTO child VALUES (1, 1), (2, 3), (3, 2);
INSERT INTO parent VALUES (3), (4);
INSERT IGNORE INTO child VALUES (4, 3), (5, 5), (6, 4);
INSERT INTO parent VALUES (5);
INSERT IGNORE INTO child VALUES (7, 5), (8, 6);
INSERT INTO parent VALUES (6);
