CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50), n INT, d DATETIME, CHECK (n < 100)) ENGINE=InnoDB
SET SESSION check_constraint_checks = 0
INSERT INTO t (n) VALUES (500)
UPDATE t SET n = 600
SET SESSION check_constraint_checks = 1
INSERT INTO t (n) VALUES (5)
SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION,IGNORE_SPACE'
INSERT INTO t (n) SELECT NOT 1 BETWEEN -5 AND 5
SET SESSION sql_mode = 'REAL_AS_FLOAT'
CREATE TABLE f (r REAL)
SET SESSION sql_mode = 'TIME_ROUND_FRACTIONAL'
INSERT INTO t (d) VALUES ('2001-01-01 10:00:00.9')
SET SESSION sql_mode = 'ORACLE'
INSERT INTO t (v) VALUES ('a' || 'b')
SET SESSION sql_mode = DEFAULT
SET SESSION time_zone = '+13:00', lc_time_names = 'fr_FR'
INSERT INTO t (v, d) VALUES (MONTHNAME('2001-02-03'), FROM_UNIXTIME(86400))
SET SESSION collation_connection = utf8mb4_bin
INSERT INTO t (n) VALUES ('a' = 'A')
SET SESSION collation_connection = utf8mb4_general_ci
INSERT INTO t (n) VALUES ('a' = 'A')
SET NAMES latin2
INSERT INTO t (v) VALUES (HEX('x')), (CHARSET('x'))
SET NAMES utf8mb4
SET CHARACTER SET latin1
INSERT INTO t (v) VALUES (CHARSET('x'))
SET NAMES utf8mb4
SET SESSION foreign_key_checks = 0, unique_checks = 0, sql_auto_is_null = 1
INSERT INTO t (v) VALUES ('y')
UPDATE t SET n = 77 WHERE id IS NULL
SET SESSION foreign_key_checks = 1, unique_checks = 1, sql_auto_is_null = 0
SET SESSION last_insert_id = 41
INSERT INTO t (n) VALUES (LAST_INSERT_ID()), (LAST_INSERT_ID(42))
INSERT INTO t (n) VALUES (LAST_INSERT_ID())
SET SESSION pseudo_thread_id = 12345
INSERT INTO t (v) VALUES ('of another number')
SET SESSION tx_isolation = 'SERIALIZABLE'
INSERT INTO t (v) SELECT v FROM t WHERE id < 3
INSERT INTO t (id, v) VALUES (1000, 'end')
