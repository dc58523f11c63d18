-- INSERT IGNORE: of rows that meet in a key the first in the stream stays; bad values are bent.
CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(10) UNIQUE, n TINYINT NOT NULL);
INSERT IGNORE INTO t VALUES (1, 'a', 1), (1, 'b', 2), (2, 'a', 3), (3, 'c', 4);
INSERT IGNORE INTO t VALUES (3, 'd', 5), (4, 'd', 6);
INSERT IGNORE INTO t VALUES (4, 'e', 7), (5, 'e', 999), (6, 'much too long for it', -999);
INSERT IGNORE INTO t VALUES (7, 'f', 'x'), (8, NULL, 0), (9, NULL, 1);
INSERT IGNORE INTO t VALUES (10, 'g', NULL), (11, 'h', 2);
INSERT IGNORE INTO t (id, u) VALUES (12, 'i');
INSERT IGNORE INTO t VALUES (2, 'z', 0), (12, 'y', 0), (13, 'A', 0), (14, 'x ', 0), (15, 'x', 0);
