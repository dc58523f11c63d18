-- A foreign key across databases, and to a unique key that is not the primary one.
CREATE DATABASE elders CHARACTER SET utf8mb4;
CREATE TABLE elders.parent (id INT PRIMARY KEY, code CHAR(3) NOT NULL UNIQUE) ENGINE=InnoDB;
CREATE TABLE child (id INT PRIMARY KEY, code CHAR(3), FOREIGN KEY (code) REFERENCES elders.parent (code) ON UPDATE CASCADE) ENGINE=InnoDB;
INSERT INTO elders.parent VALUES (1, 'abc'), (2, 'def');
INSERT INTO child VALUES (1, 'abc'), (2, 'ABC');
USE elders;
INSERT INTO parent VALUES (3, 'ghi');
INSERT INTO hortator_case.child VALUES (3, 'ghi'), (4, 'def');
UPDATE parent SET code = 'xyz' WHERE id = 2;
INSERT INTO hortator_case.child VALUES (5, 'xyz');
INSERT INTO parent VALUES (4, 'def');
INSERT INTO hortator_case.child VALUES (6, 'def');
