-- errors on mysql: SET STATEMENT is MariaDB's
-- SET STATEMENT … FOR: the setting holds for that one statement only.
CREATE TABLE t (id INT PRIMARY KEY, tiny TINYINT);
SET STATEMENT sql_mode='' FOR INSERT INTO t VALUES (1, 999), (2, -999);
INSERT INTO t VALUES (3, 3), (4, 4);
SET STATEMENT sql_mode='', max_statement_time=100 FOR INSERT INTO t VALUES (5, 999);
INSERT INTO t VALUES (6, 6);
SELECT @@sql_mode <> '';
