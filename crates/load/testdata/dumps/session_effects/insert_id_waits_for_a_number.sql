-- SET insert_id is for the next row that the server numbers: rows with numbers of their own do not use it up.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY);
SET insert_id = 71;
INSERT INTO u VALUES (1), (2);
INSERT INTO t (v) VALUES ('of the statement'), ('and the next');
INSERT INTO t (v) VALUES ('behind');
SET insert_id = 90;
INSERT INTO t VALUES (5, 'given');
INSERT INTO u VALUES (3);
INSERT INTO t (v) VALUES ('of the statement');
SET insert_id = 100;
INSERT INTO t VALUES (6, 'given'), (NULL, 'numbered');
SELECT LAST_INSERT_ID();
