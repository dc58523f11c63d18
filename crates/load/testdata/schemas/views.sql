-- Views on views, in an order that the names do not show; a view on a missing table's replacement, with routines, unions, checks.
CREATE TABLE z_base (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET latin1, n INT);
CREATE TABLE a_base (id INT PRIMARY KEY, z INT);
INSERT INTO z_base VALUES (1, 'é', 10), (2, 'b', 20), (3, 'c', 30);
INSERT INTO a_base VALUES (1, 1), (2, 2);
CREATE FUNCTION half(x INT) RETURNS INT DETERMINISTIC NO SQL RETURN x DIV 2;
CREATE VIEW m_first AS SELECT id, v, n FROM z_base WHERE n > 5;
CREATE VIEW a_second AS SELECT m.id, m.v, half(m.n) AS h FROM m_first m JOIN a_base a ON a.z = m.id;
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW b_third AS SELECT COUNT(*) AS `how many; of them` FROM a_second;
CREATE VIEW c_union AS SELECT id FROM z_base UNION ALL SELECT h FROM a_second;
CREATE VIEW d_checked AS SELECT id, n FROM m_first WHERE n < 100 WITH LOCAL CHECK OPTION;
CREATE DEFINER=`root`@`localhost` VIEW `e view``s "odd"` AS SELECT 'it''s' AS `it's`, "x" AS `x y`, _utf8mb4'日本' AS `日本`;
CREATE VIEW f_with AS WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r;
CREATE VIEW g_window AS SELECT id, ROW_NUMBER() OVER (ORDER BY n DESC) AS place FROM z_base;
