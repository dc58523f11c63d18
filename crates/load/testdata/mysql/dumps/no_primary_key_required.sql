-- fails: 3750
-- ahead: t
-- A server's demand for primary keys, made by the dump's session.
SET sql_require_primary_key = ON;
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1),(2),(3),(4);
CREATE TABLE u (id INT);
INSERT INTO t VALUES (5),(6),(7),(8);
