-- CREATE OR REPLACE TEMPORARY TABLE in a comment that only MariaDB reads, and by CREATE … LIKE and … SELECT.
-- errors on mysql: CREATE OR REPLACE is MariaDB's
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'base'), (2, 'base');
/*M!100000 CREATE OR REPLACE TEMPORARY TABLE t LIKE u */;
INSERT INTO t VALUES (2, 'temporary'), (3, 'temporary');
CREATE /* a comment */ TEMPORARY TABLE u SELECT * FROM t;
INSERT INTO u VALUES (2, 'temporary'), (3, 'temporary');
DROP TABLE t;
INSERT INTO t VALUES (3, 'base'), (4, 'base');
DROP TABLE u;
INSERT INTO u VALUES (5, 'base');
