-- Last_query_cost tells of the dump's own last query.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
ANALYZE TABLE t;
SELECT COUNT(*) FROM t WHERE v > 1;
SHOW STATUS LIKE 'Last_query_cost';
SELECT v FROM t ORDER BY id;
SET sql_mode = '';
SHOW STATUS LIKE 'Last_query_cost';
SELECT v FROM t WHERE id = 3;
USE hortator_case;
SHOW STATUS LIKE 'Last_query_cost';
SELECT a.v FROM t AS a, t AS b WHERE a.v = b.v ORDER BY a.id;
CREATE TABLE u (id INT);
SHOW STATUS LIKE 'Last_query_cost';
