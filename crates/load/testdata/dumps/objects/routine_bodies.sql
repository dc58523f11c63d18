-- errors on mysql: the bodies are MariaDB's SQL
-- Routine bodies with comments, quotes, nested blocks and delimiters of several signs and cases.
CREATE TABLE t (v VARCHAR(200));
DELIMITER //
CREATE PROCEDURE p1()
  COMMENT 'it''s; a "comment"'
  SQL SECURITY INVOKER
BEGIN
  -- line comment; it ends here
  # hash comment; '
  /* block; comment " */
  DECLARE s VARCHAR(10) DEFAULT 'a;b'; -- trailing
  IF s = 'a;b' THEN
    INSERT INTO t VALUES ('-- no comment'), ('# nor this'), ('/* nor this */');
  END IF;
  /*! INSERT INTO t VALUES ('conditional') */;
  /*M!100100 INSERT INTO t VALUES ('mariadb') */;
  /*!99999 INSERT INTO t VALUES ('never'); */
  INSERT INTO t VALUES ('// in quotes is no delimiter');
END//
delimiter ;
CALL p1();
DeLiMiTeR $$
CREATE FUNCTION `f 2`(a INT) RETURNS VARCHAR(20) CHARACTER SET latin1 DETERMINISTIC
LBL: LOOP
  SET a = a + 1;
  IF a > 5 THEN RETURN CONCAT('$', '$'); END IF;
  ITERATE LBL;
END LOOP$$
delimiter ;
SELECT `f 2`(1);
DELIMITER go
CREATE PROCEDURE p3() BEGIN SELECT 1; SELECT 'two'; END go
DELIMITER ;
CALL p3();
DELIMITER "$$"
CREATE PROCEDURE p4() BEGIN SELECT 4; END$$
DELIMITER ;
DELIMITER ;;
CREATE PROCEDURE p5() BEGIN SELECT ';'; END ;;
DELIMITER ;
INSERT INTO t VALUES ('one;two'), ('$$');
