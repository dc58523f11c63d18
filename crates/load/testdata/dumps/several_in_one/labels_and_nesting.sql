-- Routines with labels, nested blocks, CASE, IF and loops in one text with other statements before and behind.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n INT);
DELIMITER //
CREATE PROCEDURE fill(IN n INT)
outer_block: BEGIN
  DECLARE i INT DEFAULT 0;
  count_up: WHILE i < n DO
    BEGIN
      IF i MOD 2 = 0 THEN INSERT INTO log (n) VALUES (i); ELSE INSERT INTO log (n) VALUES (CASE i WHEN 1 THEN 10 ELSE 20 END); END IF;
      CASE WHEN i > 2 THEN SET i = i + 2; ELSE SET i = i + 1; END CASE;
    END;
  END WHILE count_up;
  LEAVE outer_block;
END outer_block; CALL fill(6); INSERT INTO t SELECT id, n FROM log//
INSERT INTO t VALUES (100, 1); CREATE FUNCTION g(n INT) RETURNS INT RETURN CASE n WHEN 1 THEN 2 ELSE 3 END//
CREATE FUNCTION h(n INT) RETURNS INT RETURN CASE n WHEN 1 THEN 2 ELSE 3 END; INSERT INTO t VALUES (101, h(1))//
DELIMITER ;
INSERT INTO t VALUES (102, g(1)), (103, h(2));
INSERT INTO log (n) VALUES (8), (9);
