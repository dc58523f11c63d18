-- The optimizer trace is that of the dump's own last query.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
SET optimizer_trace = 'enabled=on';
SELECT COUNT(*) FROM t WHERE v > 1;
SELECT QUERY FROM information_schema.OPTIMIZER_TRACE;
UPDATE t SET v = v + 1 WHERE id = 3;
SELECT QUERY FROM information_schema.OPTIMIZER_TRACE;
SELECT v FROM t WHERE id = 3;
SET @a = 1;
SELECT QUERY FROM information_schema.OPTIMIZER_TRACE;
SELECT v FROM t WHERE id = 2;
CREATE TABLE u (id INT);
SELECT QUERY FROM information_schema.OPTIMIZER_TRACE;
