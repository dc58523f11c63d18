-- The dump limits what a SELECT may read; what Hortator asks for itself is not limited by it.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, b CHAR(20));
SET sql_select_limit = 1, max_join_size = 2;
INSERT INTO t VALUES (1, 'given');
INSERT INTO t VALUES (NULL, 'a'), (NULL, 'b'), (NULL, 'c');
INSERT INTO t (b) VALUES ('d');
UPDATE t SET b = 'e' WHERE id = 2;
SELECT COUNT(*) AS n FROM (SELECT 1) AS one;
SET sql_select_limit = DEFAULT, max_join_size = DEFAULT, sql_big_selects = DEFAULT;
INSERT INTO t (b) VALUES ('f');
