CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200), n INT, KEY (n)) ENGINE=InnoDB
CREATE TABLE o (id INT PRIMARY KEY, t_id INT, w DOUBLE) ENGINE=InnoDB
INSERT INTO t (v, n) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)
INSERT INTO o SELECT id, id, id / 3 FROM t
REPLACE INTO t VALUES (2, 'replaced', 2)
INSERT INTO t VALUES (3, 'x', 9) ON DUPLICATE KEY UPDATE v = CONCAT(v, VALUES(v)), n = n + 1
INSERT IGNORE INTO t VALUES (1, 'ignored', 0), (50, 'not ignored', 0)
INSERT INTO t (v, n) VALUES ('r', 5) RETURNING id
INSERT INTO o VALUES (100, LAST_INSERT_ID(), 0.1 + 0.2)
UPDATE t JOIN o ON o.t_id = t.id SET t.n = t.n + 1, o.w = o.w * 1.1
DELETE t, o FROM t JOIN o ON o.t_id = t.id WHERE o.id = 4
UPDATE t SET n = n + 1 ORDER BY id DESC LIMIT 2
DELETE FROM t ORDER BY n LIMIT 1
SET @a = 5, @b = 'text', @c = 1.5, @d = 1e10, @e = NULL, @f = _utf8mb4'😀', @g = X'00ff', @h = 18446744073709551615
INSERT INTO t (v, n) VALUES (@b, @a), (@c, NULL), (@d, 1), (@e, 1), (@f, 1), (HEX(@g), 1), (@h, 1)
INSERT INTO t (v) VALUES (NOW(6)), (CURDATE()), (UTC_TIMESTAMP()), (UNIX_TIMESTAMP()), (FROM_UNIXTIME(100)), (SYSDATE() > 0)
SET SESSION time_zone = '+05:30', timestamp = 1000000000.123456
INSERT INTO t (v) VALUES (NOW(6)), (FROM_UNIXTIME(1))
SET SESSION time_zone = DEFAULT, timestamp = DEFAULT
SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'
INSERT INTO "t" (v) VALUES ('a' || 'b\n')
SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'
INSERT INTO t (id, v) VALUES (0, 'zero')
SET SESSION sql_mode = ''
INSERT INTO t (v, n) VALUES (REPEAT('long', 100), 'no number')
SET SESSION sql_mode = DEFAULT
PREPARE s FROM 'INSERT INTO t (v, n) VALUES (?, ?)'
EXECUTE s USING @b, @a
EXECUTE IMMEDIATE 'UPDATE t SET n = ? WHERE id = 1' USING 77
SET STATEMENT sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '-03:00', max_statement_time = 50 FOR INSERT INTO t (v, n) VALUES (NOW(), 1)
SET STATEMENT foreign_key_checks = 0, unique_checks = 0 FOR INSERT INTO t (v, n) VALUES ('of a statement', 1)
INSERT INTO t (v) WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
INSERT INTO t (v) SELECT v FROM t WHERE id < 3 UNION SELECT 'u'
INSERT INTO t (v) VALUES (GET_LOCK('x', 0)), (RELEASE_LOCK('x'))
SET SESSION auto_increment_increment = 7, auto_increment_offset = 3
INSERT INTO t (v) VALUES ('steps'), ('steps')
SET SESSION auto_increment_increment = 1, auto_increment_offset = 1
SET SESSION insert_id = 5000
INSERT INTO t (v) VALUES ('of a number')
LOCK TABLES t WRITE, o READ
INSERT INTO t (v) SELECT w FROM o
UNLOCK TABLES
INSERT INTO t (v) /* a comment */ VALUES ('behind a comment') -- and one more
UPDATE t SET v = 'same' WHERE v = 'same'
DELETE FROM o
