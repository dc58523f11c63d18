-- SHOW PROFILES lists the dump's own statements, without their times.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
SET profiling = 1;
SELECT SUM(v) FROM t;
SET @a = 1;
SELECT COUNT(*) FROM t;
SET profiling = 0;
SELECT QUERY_ID, COUNT(*) > 1 FROM information_schema.PROFILING GROUP BY QUERY_ID ORDER BY QUERY_ID;
SET sql_mode = '';
SELECT MAX(QUERY_ID) FROM information_schema.PROFILING;
