-- Foreign keys in a ring, so that no order of the tables satisfies them.
CREATE TABLE department (id INT PRIMARY KEY, head INT, name VARCHAR(20));
CREATE TABLE person (id INT PRIMARY KEY, department INT NOT NULL, friend INT, FOREIGN KEY (department) REFERENCES department (id), FOREIGN KEY (friend) REFERENCES person (id));
ALTER TABLE department ADD FOREIGN KEY (head) REFERENCES person (id);
INSERT INTO department VALUES (1, NULL, 'one'), (2, NULL, 'two');
INSERT INTO person VALUES (1, 1, NULL), (2, 1, 1), (3, 2, 2), (4, 2, 3);
UPDATE department SET head = id * 2;
CREATE TABLE z_parent (id INT PRIMARY KEY, code VARCHAR(10) UNIQUE);
CREATE TABLE a_child (id INT PRIMARY KEY, parent INT, code VARCHAR(10), FOREIGN KEY (parent) REFERENCES z_parent (id) ON DELETE SET NULL ON UPDATE CASCADE, FOREIGN KEY (code) REFERENCES z_parent (code));
INSERT INTO z_parent VALUES (1, 'x'), (2, 'y');
INSERT INTO a_child VALUES (1, 1, 'y'), (2, 2, NULL), (3, NULL, 'x');
SET foreign_key_checks=0;
INSERT INTO a_child VALUES (4, 99, 'orphan');
