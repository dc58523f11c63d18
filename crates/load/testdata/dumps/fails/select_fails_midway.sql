-- fails: 1644
-- SELECTs that fail at a later row: nothing is printed of that result set, and all of those that were complete before.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3), (4);
DELIMITER //
CREATE FUNCTION until_three(n INT) RETURNS INT DETERMINISTIC
BEGIN
  IF n = 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the third row'; END IF;
  RETURN n;
END//
CREATE PROCEDURE complete_then_failing()
BEGIN
  SELECT id AS complete FROM t ORDER BY id;
  SELECT id AS failing, until_three(id) FROM t ORDER BY id;
  SELECT id AS never FROM t ORDER BY id;
END//
DELIMITER ;
SELECT id AS whole, until_three(id) FROM t WHERE id < 3 ORDER BY id;
CALL complete_then_failing();
SELECT until_three(id) AS failing FROM t ORDER BY id;
SELECT until_three(id) AS failing FROM t ORDER BY id\G
SELECT id AS whole, until_three(id) FROM t WHERE id <> 3 ORDER BY id\G
CALL complete_then_failing()\G
SELECT 1 AS n UNION ALL SELECT (SELECT id FROM t WHERE id > 1);
SELECT REPEAT('x', 4000) AS failing, until_three(id) FROM t ORDER BY id;
SELECT COUNT(*) FROM t;
