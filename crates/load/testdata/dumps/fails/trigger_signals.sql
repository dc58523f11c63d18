-- fails: 1644
-- A trigger refuses a row by SIGNAL, another by the length of a value.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5));
CREATE TABLE log (v VARCHAR(5));
DELIMITER //
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW
BEGIN
  INSERT INTO log VALUES (NEW.v);
  IF NEW.id = 4 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not four; never', MYSQL_ERRNO = 1644; END IF;
END//
DELIMITER ;
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (3, 'c'), (4, 'd'), (5, 'e');
INSERT INTO t VALUES (6, 'f');
INSERT INTO t VALUES (7, 'longer than it');
INSERT INTO t VALUES (8, 'h');
