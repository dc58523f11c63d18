-- A trigger on UPDATE creates a temporary table that hides a base table.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE fires (id INT PRIMARY KEY);
INSERT INTO t VALUES (1, 'base'), (2, 'base');
INSERT INTO fires VALUES (1);
CREATE TRIGGER hide BEFORE UPDATE ON fires FOR EACH ROW CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
UPDATE fires SET id = 2;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
