-- A trigger creates a temporary table that hides a base table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE fires (id INT PRIMARY KEY);
INSERT INTO t VALUES (1, 'base'), (2, 'base');
DELIMITER //
CREATE TRIGGER hide AFTER INSERT ON fires FOR EACH ROW
BEGIN
  CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
END//
CREATE TRIGGER show_again AFTER DELETE ON fires FOR EACH ROW
BEGIN
  DROP TEMPORARY TABLE t;
END//
DELIMITER ;
INSERT INTO fires VALUES (1);
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
INSERT INTO t VALUES (4, 'temporary');
SELECT COUNT(*) FROM t;
DELETE FROM fires;
INSERT INTO t VALUES (5, 'base'), (6, 'base');
