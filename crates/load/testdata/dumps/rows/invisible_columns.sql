-- Invisible columns: not in the list of a plain INSERT, but in an explicit one.
CREATE TABLE t (a INT, b INT INVISIBLE DEFAULT 5, c INT, d INT INVISIBLE AUTO_INCREMENT PRIMARY KEY);
INSERT INTO t VALUES (1, 2), (3, 4);
INSERT INTO t (a, b, c, d) VALUES (5, 6, 7, 8);
INSERT INTO t (b) VALUES (9), (10);
INSERT INTO t VALUES (11, 12);
SELECT * FROM t ORDER BY a;
SELECT a, b, c, d FROM t ORDER BY d;
