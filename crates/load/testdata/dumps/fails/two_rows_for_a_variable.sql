-- fails: 1242
-- A SET between changes that fails ends the load there.
CREATE TABLE t (id INT PRIMARY KEY);
UPDATE t SET id = 5;
INSERT INTO t VALUES (1), (2);
UPDATE t SET id = id + 10 ORDER BY id;
SET @a = (SELECT id FROM t);
UPDATE t SET id = id + 100;
