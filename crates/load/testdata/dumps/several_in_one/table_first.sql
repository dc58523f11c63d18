-- Under another delimiter: a table whose columns are named like kinds of routines, rows, and END as the last word.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'a'), (2, 'b');
DELIMITER //
CREATE TABLE u (`procedure` INT, event INT); INSERT INTO u VALUES (1, 2); DELETE FROM t WHERE id = 1; SELECT 'x' AS end//
CREATE TABLE w (event INT); RENAME TABLE t TO old_t; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO w SELECT 7 AS `end`//
DELIMITER ;
INSERT INTO t VALUES (1), (2);
INSERT INTO old_t VALUES (3, 'c');
