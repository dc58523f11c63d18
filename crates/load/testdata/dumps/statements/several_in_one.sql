-- Several statements in one text: the client sends what stands between two delimiters whole.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'before');
DELIMITER //
DROP TABLE IF EXISTS u; CREATE TABLE u (id INT, v INT); INSERT INTO u VALUES (1, 1), (2, 2)//
INSERT INTO t VALUES (2, 'one; two'); INSERT INTO t VALUES (3, 'three')//
SET sql_mode = 'ANSI_QUOTES'; SET @x = 7; INSERT INTO "t" VALUES (4, 'quoted')//
INSERT INTO "t" VALUES (@x, 'x')//
CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (10, 'in p'); INSERT INTO t VALUES (11, 'too'); END//
CREATE PROCEDURE q() INSERT INTO t VALUES (12, 'in q'); CALL p(); CALL q()//
SET sql_mode = ''//
SELECT 1; SELECT 2 AS two; SELECT COUNT(*) FROM t//
BEGIN; INSERT INTO u VALUES (3, 3); COMMIT//
UPDATE u SET v = v * 10; DELETE FROM u WHERE id = 1;//
CREATE TRIGGER u_bi BEFORE INSERT ON u FOR EACH ROW BEGIN SET NEW.v = NEW.v + 1; SET NEW.id = NEW.id * 2; END//
DELIMITER ;
INSERT INTO u VALUES (5, 5), (6, 6);
INSERT INTO t VALUES (20, 'after');
