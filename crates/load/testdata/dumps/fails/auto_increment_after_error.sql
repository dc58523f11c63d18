-- fails: 1062
-- Numbers that a failed statement took are gone: the counter and the ids after it, with --force.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE);
INSERT INTO t (u) VALUES (1), (2);
INSERT INTO t (u) VALUES (3), (4), (1);
INSERT INTO t (u) VALUES (5), (6);
INSERT INTO t VALUES (NULL, 7), (100, 8), (NULL, 2);
INSERT INTO t (u) VALUES (9);
