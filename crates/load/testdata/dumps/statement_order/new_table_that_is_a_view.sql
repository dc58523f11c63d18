-- A table that is not created because a view has its name: the rows fire the triggers of the table behind the view.
DROP TABLE IF EXISTS t, v;
CREATE TABLE l (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
CREATE TABLE t (a INT);
CREATE VIEW v AS SELECT * FROM t;
CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO l (b) VALUES (NEW.a);
CREATE TABLE IF NOT EXISTS v (a INT);
INSERT INTO v VALUES (1), (2);
INSERT INTO l (b) VALUES (100);
SELECT * FROM l;
SELECT LAST_INSERT_ID();
