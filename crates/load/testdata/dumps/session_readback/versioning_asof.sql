-- not on mysql: system versioning is MariaDB's
-- system_versioning_asof cannot be set back to what it was read as; rows and SELECTs run under it.
CREATE TABLE t (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING;
SET timestamp = 1600000000;
INSERT INTO t VALUES (1, 1), (2, 2);
SET timestamp = 1600001000;
UPDATE t SET v = 3 WHERE id = 1;
SET timestamp = DEFAULT;
CREATE TABLE u (id INT PRIMARY KEY, v INT);
SET system_versioning_asof = '2020-09-13 12:30:00';
INSERT INTO u VALUES (1, 1), (2, 2);
SELECT * FROM t ORDER BY id;
SET time_zone = '+05:00';
INSERT INTO u VALUES (3, 3), (4, 4);
SET system_versioning_asof = DEFAULT;
INSERT INTO u VALUES (5, 5), (6, 6);
SELECT * FROM t ORDER BY id;
