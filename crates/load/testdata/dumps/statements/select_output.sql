-- errors on mysql: VALUES without ROW is MariaDB's
-- SELECT in the stream: rows are printed as in batch mode, with escapes, NULL, empty results, wide and binary values.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), b BLOB, d DECIMAL(10,3), f FLOAT, x BIT(9));
SELECT * FROM t;
INSERT INTO t VALUES (1, 'plain', 'bytes', 1.5, 0.1, b'1'), (2, 'tab\there', 'line\nbreak', -0.001, 1e20, b'111111111');
INSERT INTO t VALUES (3, NULL, NULL, NULL, NULL, NULL), (4, 'back\\slash', 'nul\0nul', 0, -0.0, 0), (5, '', '', 99, 3, 1);
SELECT * FROM t ORDER BY id;
SELECT id AS `head	er`, v AS 'with
newline', 1 AS `back\slash` FROM t WHERE id < 3 ORDER BY id DESC;
SELECT COUNT(*) FROM t;
INSERT INTO t (id) VALUES (6);
SELECT COUNT(*), MAX(id) FROM t; SELECT 'two on', 'a line';
SELECT 'é', '😀', x'00ff41', NULL, TRUE, 1.0, 1e10, '2020-01-01' + INTERVAL 1 DAY;
SELECT id FROM t WHERE 0;
SELECT id, v FROM t WHERE id = 1\G
SELECT 'go'\g
SELECT 1; SELECT 2\G SELECT 3;
(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC;
VALUES (1, 'a'), (2, 'b');
WITH c AS (SELECT 1 AS n) SELECT n FROM c;
SHOW CREATE TABLE t;
SELECT ROW_COUNT();
INSERT INTO t (id) VALUES (7), (8);
SELECT ROW_COUNT();
SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 2;
SELECT FOUND_ROWS();
