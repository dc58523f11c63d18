-- character_set_results and collation_database of another charset, or none at all.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)) CHARACTER SET utf8mb4;
SET character_set_results = ucs2;
INSERT INTO t VALUES (1, 'é'), (2, 'b');
SET time_zone = '+05:00';
INSERT INTO t VALUES (3, 'é'), (4, 'b');
UPDATE t SET v = CONCAT(v, '!') WHERE id = 4;
SET character_set_results = NULL;
SELECT HEX(v) FROM t ORDER BY id;
SET collation_database = utf16_general_ci;
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO u VALUES (1, 'é');
SET collation_server = ucs2_general_ci;
CREATE DATABASE elsewhere;
CREATE TABLE elsewhere.t (v VARCHAR(10));
INSERT INTO elsewhere.t VALUES ('é');
