-- not on mysql: it refuses the change of the parent's column
-- With checks off, a foreign key is dropped, the columns on both sides change, and the key is there again; and a parent that
-- is named without its schema is in that of the child.
CREATE TABLE t1 (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE t2 (id INT PRIMARY KEY, p INT, CONSTRAINT fk_t1 FOREIGN KEY (p) REFERENCES t1 (id)) ENGINE=InnoDB;
INSERT INTO t1 VALUES (1), (2);
INSERT INTO t2 VALUES (1, 1), (2, 2);
SET foreign_key_checks = 0;
ALTER TABLE t2 DROP FOREIGN KEY fk_t1, MODIFY p BIGINT;
ALTER TABLE t1 MODIFY id BIGINT;
ALTER TABLE t2 ADD CONSTRAINT fk_t1 FOREIGN KEY (p) REFERENCES t1 (id);
SET foreign_key_checks = 1;
CREATE DATABASE best;
CREATE TABLE best.t1 (f1 INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB;
CREATE TABLE best.t2 (f1 INT, FOREIGN KEY (f1) REFERENCES t1 (f1)) ENGINE=InnoDB;
INSERT INTO best.t1 VALUES (7, 'seven');
INSERT INTO best.t2 VALUES (7);
