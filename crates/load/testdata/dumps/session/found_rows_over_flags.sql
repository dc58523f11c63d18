-- FOUND_ROWS() stays over SETs, whatever has to be read of the session behind them, and under a limit.
-- errors on mysql: it has no tables of numbers
CREATE TABLE n (a INT PRIMARY KEY);
INSERT INTO n SELECT seq FROM seq_1_to_1500;
SELECT SQL_CALC_FOUND_ROWS a FROM n LIMIT 1;
SET foreign_key_checks=0;
SET sql_notes=1;
SET NAMES utf8mb4;
DO 1;
SELECT FOUND_ROWS();
SELECT 1 UNION SELECT 2 UNION SELECT 3;
SET sql_select_limit=1;
SET sql_notes=1;
DO 1;
SET sql_select_limit=DEFAULT;
SELECT FOUND_ROWS();
