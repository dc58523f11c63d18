-- SET NAMES in mid-stream: the same bytes are other letters before and after it.
CREATE TABLE t (id INT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(20) CHARACTER SET utf8mb4, b VARBINARY(20));
SET NAMES utf8mb4;
INSERT INTO t VALUES (1, 'é', 'é', 'é'), (2, 'ü€', 'ü€', 'ü€');
SET NAMES latin1;
INSERT INTO t VALUES (3, 'é', 'é', 'é'), (4, 'ü€', 'ü€', 'ü€');
SET NAMES 'utf8mb3' COLLATE 'utf8mb3_bin';
INSERT INTO t VALUES (5, 'é', 'é', 'é'), (6, 'ü€', 'ü€', 'ü€');
SET CHARACTER SET latin1;
INSERT INTO t VALUES (7, 'é', 'é', 'é'), (8, 'ü', 'ü', 'ü');
SET character_set_client=binary;
INSERT INTO t VALUES (9, 'é', 'é', 'é');
SET NAMES DEFAULT;
INSERT INTO t VALUES (10, 'e', 'e', 'e');
SET NAMES utf8mb4;
INSERT INTO t VALUES (11, 'é', 'é', 'é'), (12, 'ü€', 'ü€', 'ü€');
