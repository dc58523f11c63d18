-- EXECUTE IMMEDIATE and a prepared statement create a temporary table that hides a base table.
-- errors on mysql: EXECUTE IMMEDIATE is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
INSERT INTO u VALUES (1, 'base'), (2, 'base');
EXECUTE IMMEDIATE 'CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20))';
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
PREPARE s FROM 'CREATE TEMPORARY TABLE u (id INT PRIMARY KEY, v VARCHAR(20))';
EXECUTE s;
INSERT INTO u VALUES (2, 'temporary'), (3, 'temporary');
