-- A trigger that sets and reads user variables and calls a function that writes.
CREATE TABLE t (id INT PRIMARY KEY, n INT);
CREATE TABLE calls (n INT);
SET @seen = 0;
DELIMITER //
CREATE FUNCTION counted() RETURNS INT DETERMINISTIC MODIFIES SQL DATA
BEGIN
  INSERT INTO calls VALUES (@seen);
  RETURN (SELECT COUNT(*) FROM calls);
END//
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET @seen = @seen + 1; SET NEW.n = counted(); END//
DELIMITER ;
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO t (id) VALUES (3), (4);
SELECT @seen;
INSERT INTO t VALUES (@seen * 10, NULL);
SELECT @seen;
