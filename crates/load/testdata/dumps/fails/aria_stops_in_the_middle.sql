-- errors on mysql: the engine Aria is MariaDB's
-- fails: 1062
-- Aria keeps the rows before the bad one of the same statement too.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(5) NOT NULL) ENGINE=Aria;
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (3, 'c'), (4, 'd'), (1, 'again'), (5, 'e');
INSERT INTO t (v) VALUES ('f');
INSERT INTO t (v) VALUES ('g'), (NULL), ('h');
INSERT INTO t (v) VALUES ('i');
