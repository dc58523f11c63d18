-- With steps between numbers, MySQL keeps the step of the last one: rows with given numbers move the counter by it.
SET SESSION auto_increment_increment = 5;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO t (v) VALUES (1), (2);
CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES u (id)) ENGINE=InnoDB;
INSERT INTO u VALUES (1, NULL), (2, 1);
INSERT INTO u VALUES (NULL, 1), (17, NULL);
INSERT INTO u VALUES (32, NULL), (33, 1), (34, NULL);
CREATE TABLE w (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO w VALUES (12, 1), (13, 2);
SET SESSION auto_increment_increment = 1;
INSERT INTO t VALUES (32, 3), (33, 3);
INSERT INTO t (v) VALUES (4);
INSERT INTO t VALUES (62, 5), (63, 5);
INSERT INTO t (v) VALUES (6);
INSERT INTO u VALUES (42, NULL), (43, 1);
INSERT INTO u (p) VALUES (1);
INSERT INTO w VALUES (22, 3), (23, 4);
INSERT INTO w (v) VALUES (5);
