-- errors on mysql: @@last_insert_id
-- Defaults that read the last number given.
CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE t (id INT PRIMARY KEY, v BIGINT DEFAULT (@@last_insert_id));
CREATE TABLE w (id INT PRIMARY KEY, v BIGINT DEFAULT (@@identity));
INSERT INTO p (v) VALUES (1), (2);
INSERT INTO p (v) VALUES (3);
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO w (id) VALUES (1), (2);
INSERT INTO p (v) VALUES (4);
INSERT INTO t (id) VALUES (3);
INSERT INTO w VALUES (3, DEFAULT);
