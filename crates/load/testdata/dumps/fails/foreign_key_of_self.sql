-- fails: 1452
-- A row that refers to a later row of its own table.
CREATE TABLE node (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES node (id)) ENGINE=InnoDB;
INSERT INTO node VALUES (1, NULL), (2, 1);
INSERT INTO node VALUES (3, 2), (4, 5), (5, 3);
INSERT INTO node VALUES (5, 3), (6, 5);
