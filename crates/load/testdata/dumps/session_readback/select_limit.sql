-- sql_select_limit=0 empties every SELECT of the session: also those that a load would ask in it.
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL);
INSERT INTO t VALUES (1, '2020-01-01 12:00:00'), (2, NULL);
SET sql_select_limit = 0;
INSERT INTO t VALUES (3, '2020-01-01 12:00:00');
SELECT id FROM t;
SET time_zone = '+05:00';
INSERT INTO hortator_case.t VALUES (4, '2020-01-01 12:00:00'), (5, NULL);
CREATE TABLE hortator_case.u (id INT PRIMARY KEY, v VARCHAR(10), at TIMESTAMP NULL);
INSERT INTO hortator_case.u VALUES (1, 'a', '2020-01-01 12:00:00'), (2, 'b', NULL);
SET NAMES latin1;
INSERT INTO hortator_case.u VALUES (3, 'é', '2020-01-01 12:00:00');
SET auto_increment_increment = 10, sql_mode = 'ANSI_QUOTES';
CREATE TABLE hortator_case.w ("id" INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO hortator_case.w (v) VALUES (1), (2);
UPDATE t SET at = '2020-01-01 12:00:00' WHERE id = 2;
INSERT INTO hortator_case.w (v) VALUES (3);
