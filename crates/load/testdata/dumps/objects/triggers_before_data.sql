-- Triggers that are there when the rows come: they write a log in order, change values, count.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT);
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(60));
CREATE TABLE totals (name VARCHAR(10) PRIMARY KEY, n INT);
INSERT INTO totals VALUES ('t', 0), ('u', 0);
DELIMITER $$
CREATE TRIGGER t_before BEFORE INSERT ON t FOR EACH ROW
BEGIN
  SET NEW.v = UPPER(NEW.v);
  SET NEW.n = (SELECT n FROM totals WHERE name = 't');
END$$
CREATE TRIGGER t_after AFTER INSERT ON t FOR EACH ROW
BEGIN
  INSERT INTO log (what) VALUES (CONCAT('t ', NEW.id, ' ', NEW.v));
  UPDATE totals SET n = n + 1 WHERE name = 't';
END$$
CREATE TRIGGER u_after AFTER INSERT ON u FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('u ', NEW.id))$$
CREATE TRIGGER u_gone AFTER DELETE ON u FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('gone ', OLD.id))$$
DELIMITER ;
INSERT INTO t VALUES (1, 'a', NULL), (2, 'b', NULL);
INSERT INTO u VALUES (1, 'x'), (2, 'y');
INSERT INTO t VALUES (3, 'c', 100);
INSERT INTO u VALUES (3, 'z');
INSERT INTO t (id, v) VALUES (4, 'd'), (5, 'e'), (6, 'f');
REPLACE INTO u VALUES (3, 'zz'), (4, 'w');
DELETE FROM u WHERE id = 1;
INSERT INTO u VALUES (1, 'back');
DROP TRIGGER t_before;
INSERT INTO t VALUES (7, 'small', 7), (8, 'small', 8);
