-- errors on mysql: PERSISTENT is MariaDB's
-- Generated columns, virtual and stored, with column lists, with DEFAULT and in mysqldump's form.
CREATE TABLE t (
  id INT PRIMARY KEY,
  a INT,
  v INT AS (a * 2) VIRTUAL,
  s VARCHAR(20) AS (CONCAT('s', a)) STORED,
  j JSON,
  jx VARCHAR(10) AS (JSON_VALUE(j, '$.k')) PERSISTENT,
  KEY (v), KEY (s), UNIQUE (jx)
);
INSERT INTO t (id, a) VALUES (1, 10), (2, 20);
INSERT INTO `t` (`id`, `a`, `j`) VALUES (3, 30, '{"k":"x"}'), (4, NULL, '{"k":"y"}');
INSERT INTO t VALUES (5, 50, DEFAULT, DEFAULT, '{}', DEFAULT), (6, 60, DEFAULT, DEFAULT, NULL, DEFAULT);
INSERT INTO t (id, v, a) VALUES (7, DEFAULT, 70);
INSERT INTO t VALUES (8, 80, NULL, NULL, NULL, NULL);
