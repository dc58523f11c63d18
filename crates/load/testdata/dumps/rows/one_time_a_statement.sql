-- errors on mysql: system versioning is MariaDB's
-- All rows of a statement have its time, however they travel: defaults that are not given.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9), at DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6));
INSERT INTO t (id, v) VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e'),(6,'f'),(7,'g');
SELECT COUNT(*), COUNT(DISTINCT at) FROM t;
CREATE TABLE history (id INT PRIMARY KEY, v VARCHAR(9)) WITH SYSTEM VERSIONING;
INSERT INTO history VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e'),(6,'f'),(7,'g');
SELECT COUNT(*), COUNT(DISTINCT row_start) FROM history;
DROP TABLE t;
DROP TABLE history;
