-- A view on a function that reads a table; a generated column and a default cannot, a CHECK neither.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
DELIMITER |
CREATE FUNCTION doubled(x INT) RETURNS INT DETERMINISTIC NO SQL RETURN x * 2|
CREATE FUNCTION total() RETURNS INT READS SQL DATA
BEGIN
  DECLARE s INT DEFAULT 0;
  SELECT SUM(v) INTO s FROM t;
  RETURN s;
END|
DELIMITER ;
CREATE VIEW with_function AS SELECT id, doubled(v) AS d, total() AS s FROM t;
INSERT INTO t VALUES (1, 10), (2, 20);
SELECT * FROM with_function ORDER BY id;
INSERT INTO t VALUES (3, doubled(15)), (4, total());
SELECT * FROM with_function ORDER BY id;
CREATE OR REPLACE VIEW with_function AS SELECT total() AS only_total;
INSERT INTO t VALUES (5, (SELECT only_total FROM with_function));
SELECT * FROM with_function;
