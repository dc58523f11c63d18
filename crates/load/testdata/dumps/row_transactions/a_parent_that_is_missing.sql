-- fails: 1452
-- Parents and children in transactions of rows, with checks: a child of a parent that is not there takes back its transaction.
CREATE TABLE parent (id INT PRIMARY KEY);
CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id));
SET autocommit = 0;
INSERT INTO parent VALUES (1), (2);
COMMIT;
INSERT INTO child VALUES (1, 1), (2, 2);
COMMIT;
INSERT INTO child VALUES (3, 1);
INSERT INTO child VALUES (4, 9);
INSERT INTO child VALUES (5, 1);
COMMIT;
