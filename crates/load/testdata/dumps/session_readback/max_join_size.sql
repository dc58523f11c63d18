-- max_join_size and sql_big_selects refuse queries of the session; max_statement_time and others end them.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
SET max_join_size = 1;
SET time_zone = '+05:00';
CREATE TABLE u (id INT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO u VALUES (1, '2020-01-01 12:00:00'), (2, NULL);
INSERT INTO t VALUES (3, 3), (4, 4);
UPDATE t SET v = v + 1 WHERE id = 1;
SET sql_big_selects = 1;
SELECT COUNT(*) FROM t;
SET max_sort_length = 8, max_length_for_sort_data = 4, group_concat_max_len = 4;
INSERT INTO t VALUES (5, 5), (6, 6);
SELECT GROUP_CONCAT(id ORDER BY id) FROM t;
