-- fails: 1644
-- Result sets larger than what is kept in memory: one that is whole, and one that fails at its last row.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);
DELIMITER //
CREATE FUNCTION checked(n INT, failing INT) RETURNS INT DETERMINISTIC
BEGIN
  IF n = failing THEN SIGNAL SQLSTATE '45000'; END IF;
  RETURN n;
END//
DELIMITER ;
SELECT checked(id, 0), REPEAT('y', 1000000) FROM t ORDER BY id;
SELECT checked(id, 10), REPEAT('x', 1000000) FROM t ORDER BY id;
SELECT 'behind';
