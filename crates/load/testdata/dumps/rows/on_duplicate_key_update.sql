-- errors on mysql: VALUE() is MariaDB's
-- ON DUPLICATE KEY UPDATE: each row sees what the rows before it left.
CREATE TABLE t (id INT PRIMARY KEY, hits INT, trail VARCHAR(200));
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b') ON DUPLICATE KEY UPDATE hits = hits + 1;
INSERT INTO t VALUES (1, 1, 'c'), (1, 1, 'd'), (3, 1, 'e') ON DUPLICATE KEY UPDATE hits = hits + VALUES(hits), trail = CONCAT(trail, VALUES(trail));
INSERT INTO t VALUES (2, 5, 'f'), (3, 6, 'g') ON DUPLICATE KEY UPDATE hits = hits * 2 + VALUE(hits), trail = CONCAT(trail, VALUE(trail));
INSERT INTO t (id) VALUES (4), (4), (4) ON DUPLICATE KEY UPDATE hits = IFNULL(hits, 0) + 1;
INSERT INTO t (id, trail) VALUES (1, 'x'), (5, 'y') ON DUPLICATE KEY UPDATE id = id + 100;
INSERT INTO t VALUES (1, 9, 'again') ON DUPLICATE KEY UPDATE trail = 'never';
