-- fails: 1072
-- errors on mysql: sequences are MariaDB's
-- A view and a sequence that the dump itself has created stay where a definition fails before they are dropped.
DROP TABLE IF EXISTS v, s, t;
DROP VIEW IF EXISTS v;
CREATE VIEW v AS SELECT 1 AS a;
CREATE SEQUENCE s;
CREATE TABLE t (id INT, KEY k (nope));
DROP VIEW IF EXISTS v;
DROP TABLE IF EXISTS s;
CREATE VIEW v AS SELECT 2 AS a;
