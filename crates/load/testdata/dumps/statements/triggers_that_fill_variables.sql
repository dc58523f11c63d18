-- Triggers that fill user variables, and one that sets a variable of the session behind one.
CREATE TABLE t (id INT PRIMARY KEY, a INT);
CREATE TABLE u (id INT PRIMARY KEY, a INT DEFAULT 0);
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @n = NEW.id, @m = COALESCE(@m, 0) + 1;
INSERT INTO t VALUES (1, 1);
INSERT INTO t VALUES (2, @n), (3, @m);
INSERT INTO t VALUES (4, @n);
CREATE TRIGGER q BEFORE INSERT ON u FOR EACH ROW SET @o = NEW.id, div_precision_increment = 0;
INSERT INTO u VALUES (1, 1);
INSERT INTO u VALUES (2, 10 / 4 * 100);
SELECT @n, @m, @o, @@div_precision_increment;
SELECT * FROM t;
SELECT * FROM u;
