-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- User variables that blocks, functions and triggers set, read by later rows.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE fires (id INT PRIMARY KEY);
DELIMITER //
BEGIN NOT ATOMIC SET @a = 'block'; END//
CREATE FUNCTION f() RETURNS INT BEGIN SET @b = 'function'; RETURN 1; END//
CREATE TRIGGER tr AFTER INSERT ON fires FOR EACH ROW SET @c = NEW.id//
DELIMITER ;
INSERT INTO t VALUES (1, @a);
INSERT INTO fires VALUES (f() + 4);
INSERT INTO t VALUES (2, @b), (3, @c);
