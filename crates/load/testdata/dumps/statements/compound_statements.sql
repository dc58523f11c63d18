-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- SELECT … INTO, DO, SET with a subquery, and compound statements outside of a routine.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
SELECT SUM(v) INTO @sum FROM t;
INSERT INTO t VALUES (3, @sum);
DELIMITER //
BEGIN NOT ATOMIC
  DECLARE i INT DEFAULT 10;
  WHILE i < 15 DO
    INSERT INTO t VALUES (i, i * i);
    SET i = i + 1;
  END WHILE;
END//
IF (SELECT COUNT(*) FROM t) > 5 THEN INSERT INTO t VALUES (100, 100); END IF//
DELIMITER ;
INSERT INTO t VALUES (101, 101);
SET @max = (SELECT MAX(v) FROM t);
INSERT INTO t VALUES (102, @max);
