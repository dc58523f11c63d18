-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A compound block limits what SELECT gives.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
DELIMITER //
BEGIN NOT ATOMIC SET sql_select_limit = 1; END//
DELIMITER ;
SELECT * FROM t ORDER BY id;
INSERT INTO t VALUES (4, 4), (5, 5);
SELECT COUNT(*) FROM t;
SELECT id FROM t WHERE id > 3 ORDER BY id;
SET sql_select_limit = DEFAULT;
SELECT id FROM t WHERE id > 3 ORDER BY id;
