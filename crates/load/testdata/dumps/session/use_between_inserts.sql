-- USE in mid-stream, with the same table names in both databases, and names with their database in front.
CREATE DATABASE first_db;
CREATE DATABASE `second db`;
USE first_db;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'first'), (2, 'first');
USE `second db`;
CREATE TABLE t (v VARCHAR(20), id INT AUTO_INCREMENT PRIMARY KEY);
INSERT INTO t VALUES ('second', 1), ('second', 2);
INSERT INTO first_db.t VALUES (3, 'from second');
INSERT INTO `first_db` . `t` VALUES (4, 'from second');
use first_db
INSERT INTO t VALUES (5, 'first');
INSERT INTO `second db`.t VALUES ('from first', 3);
USE `second db`
INSERT INTO t VALUES ('second', 4);
\u first_db
INSERT INTO t VALUES (6, 'first');
Use `second db`;
INSERT INTO t (v) VALUES ('second'), ('second');
SELECT DATABASE();
