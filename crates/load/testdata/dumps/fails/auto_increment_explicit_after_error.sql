-- not on mysql: which numbers come behind a failure depends on the connection there
-- fails: 1062
-- only with force: a counter does not roll back, so rows that had run ahead of a failure leave it higher
-- Ids that a failed statement gave itself move the counter, or not: what the server numbers next, with --force.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE);
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO t VALUES (10, 3), (11, 1), (12, 4);
INSERT INTO t (u) VALUES (5), (6);
INSERT INTO t VALUES (100, 7), (101, 8), (102, 1);
INSERT INTO t (u) VALUES (9);
SET auto_increment_increment=2;
INSERT INTO t VALUES (200, 10), (201, 11), (202, 12), (203, 1);
INSERT INTO t (u) VALUES (13), (14);
INSERT INTO t VALUES (300, 15), (301, 16);
REPLACE INTO t VALUES (310, 15);
INSERT INTO t (u) VALUES (17), (18);
