-- Routines keep their comments: MySQL's client sends them.
CREATE TABLE t (id INT PRIMARY KEY, v INT); -- behind a statement
DELIMITER ;;
CREATE PROCEDURE p() -- a comment; with a semicolon
BEGIN
  /* another */ INSERT INTO t VALUES (1, 1); # a third
END;;
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN
  -- kept
  SET NEW.v = NEW.v + 1;
END;;
DELIMITER ;
-- a comment of its own
CALL p();
INSERT INTO t VALUES /* in between */ (2, 2), (3, 3);
/* before */ INSERT INTO t VALUES (4, 4);
SELECT * FROM t;
