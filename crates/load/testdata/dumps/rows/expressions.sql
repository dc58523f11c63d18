-- Expressions in VALUES: arithmetic, functions, columns read back, subqueries, DEFAULT(column), casts.
CREATE TABLE t (id INT PRIMARY KEY, a INT DEFAULT 5, b VARCHAR(40) DEFAULT 'word', c DOUBLE, d DATETIME);
SET time_zone='+00:00', timestamp=1500000000;
INSERT INTO t VALUES (1, 1+1, CONCAT('a','b'), 1/4, NOW());
INSERT INTO t VALUES (2, -(-3), UPPER('x'), SQRT(16), '2020-01-01' + INTERVAL 1 DAY), (3, a, b, c, d);
INSERT INTO t VALUES (4, DEFAULT, DEFAULT, DEFAULT, DEFAULT), (5, DEFAULT(a), DEFAULT(b), PI(), CURDATE());
INSERT INTO t (id, a, c) VALUES (6, id * 7, a + 1), (7, (SELECT 42), (SELECT COUNT(*) FROM (SELECT 1) x));
INSERT INTO t VALUES (8, TRUE, FALSE, NOT 0, NULL), (9, 3 DIV 2, 5 % 3, 2 ^ 3, UTC_TIMESTAMP());
INSERT INTO t VALUES (10, IF(1 > 2, 1, 2), CASE 1 WHEN 1 THEN 'one' END, COALESCE(NULL, 2.5), FROM_UNIXTIME(1));
INSERT INTO t VALUES (11, CAST('12' AS SIGNED), CONVERT('x' USING latin1), BINARY 'y' = 'Y', MAKEDATE(2020, 60));
INSERT INTO t VALUES (12, 1 IN (1,2), 'a' 'b' 'c', 'a' = 'A', {d '2020-01-01'}), (13, 1 BETWEEN 0 AND 2, 'x' LIKE '_', 1 IS NULL, TIMESTAMP'2020-01-01 01:02:03');
INSERT INTO t VALUES (14, (((7))), ('(')  , (1) + (2), ('2020-01-01'));
INSERT INTO t VALUES (15, 1 -- a comment in between
 + 1, /* and another */ 'x', 1--1, NULL);
