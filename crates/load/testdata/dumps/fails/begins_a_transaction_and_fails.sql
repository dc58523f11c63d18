-- fails: 1062
-- Under autocommit=0 a statement that fails has begun a transaction, which holds its table: a definition behind it ends that.
CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO t VALUES (1);
INSERT INTO u VALUES (1);
SET autocommit = 0;
INSERT INTO t SELECT id FROM u;
ALTER TABLE u ADD COLUMN a INT;
INSERT INTO t VALUES (2);
COMMIT;
INSERT INTO t SELECT id FROM u;
DROP TABLE u;
INSERT INTO t VALUES (3);
ROLLBACK;
