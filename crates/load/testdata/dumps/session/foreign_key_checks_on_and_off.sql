-- foreign_key_checks switched in mid-stream: orphans are allowed while it is off and stay.
-- orphans: 2
CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;
SET foreign_key_checks=0;
INSERT INTO child VALUES (1, 1), (2, 2), (3, 99);
INSERT INTO parent VALUES (1), (2);
SET foreign_key_checks=1;
INSERT INTO parent VALUES (3), (4);
INSERT INTO child VALUES (4, 3), (5, 4), (6, 1);
INSERT INTO parent VALUES (5), (6);
INSERT INTO child VALUES (7, 5), (8, 6), (9, NULL);
SET @@foreign_key_checks = OFF;
INSERT INTO child VALUES (10, 98);
SET SESSION foreign_key_checks = DEFAULT;
INSERT INTO child VALUES (11, 6);
