-- not on mysql: which numbers come behind given and generated ids in one statement depends on the connection there
-- auto_increment_increment and given ids: the counter that is left goes by the session's steps.
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
SET auto_increment_increment=10, auto_increment_offset=7;
INSERT INTO a VALUES (4, 1), (5, 2);
INSERT INTO a VALUES (12, 1), (9, 2);
INSERT INTO b VALUES (4, 1), (NULL, 2);
REPLACE INTO c VALUES (4, 3), (13, 10);
REPLACE INTO c VALUES (13, 11);
SET auto_increment_increment=2, auto_increment_offset=1;
INSERT INTO b VALUES (40, 1), (41, 2);
INSERT IGNORE INTO b VALUES (41, 1), (44, 2);
