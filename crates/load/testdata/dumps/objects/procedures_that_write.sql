-- CALL: what a procedure reads and writes is not in the statement.
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO a (v) VALUES ('first'), ('second');
DELIMITER ;;
CREATE PROCEDURE copy_over(IN shift INT, OUT copied INT)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SET copied = -1; END;
  INSERT INTO b SELECT id + shift, v FROM a;
  SET copied = ROW_COUNT();
  SELECT 'copied', copied;
  SELECT COUNT(*) AS in_b FROM b;
END;;
DELIMITER ;
CALL copy_over(0, @n);
INSERT INTO a (v) VALUES ('third');
CALL copy_over(100, @n);
INSERT INTO b VALUES (1000, @n);
CALL copy_over(0, @n);
INSERT INTO b VALUES (1001, @n);
SELECT @n;
