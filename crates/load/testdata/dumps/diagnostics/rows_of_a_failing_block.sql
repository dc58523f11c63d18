-- fails: 1062
-- A procedure that selects rows and then fails: the results that came before its failure, and the one that was not whole.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
DELIMITER //
CREATE PROCEDURE p() BEGIN SELECT id FROM t ORDER BY id; INSERT INTO t VALUES (1); SELECT 'never'; END//
CREATE PROCEDURE q()
BEGIN
  SELECT id FROM t ORDER BY id;
  SELECT id, (SELECT u.id FROM t AS u WHERE u.id + t.id > 4) FROM t ORDER BY id;
END//
DELIMITER ;
CALL p();
CALL q();
SELECT COUNT(*) FROM t;
