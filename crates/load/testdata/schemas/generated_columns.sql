-- Generated columns: virtual, stored, indexed, on each other, first in the table, invisible, with defaults around them.
CREATE TABLE t (
  first_v INT AS (id * 10) VIRTUAL,
  id INT PRIMARY KEY,
  name VARCHAR(20),
  upper_name VARCHAR(20) AS (UPPER(name)) STORED,
  n INT DEFAULT 3,
  m INT AS (n + 1) VIRTUAL,
  o INT AS (m * 2) VIRTUAL,
  hidden INT AS (n * n) VIRTUAL INVISIBLE,
  doc JSON,
  part VARCHAR(20) AS (JSON_UNQUOTE(JSON_EXTRACT(doc, '$.k'))) VIRTUAL,
  at DATETIME DEFAULT '2020-01-01',
  y INT AS (YEAR(at)) STORED,
  KEY (upper_name), KEY (m), UNIQUE (part)
);
INSERT INTO t (id, name, doc) VALUES (1, 'one', '{"k":"x"}'), (2, NULL, NULL), (3, 'it''s', '{"k":"\\\\"}');
INSERT INTO t (id, name, n, at) VALUES (4, 'ü', NULL, NULL), (5, 'five', 5, '2021-05-05 05:05:05');
CREATE TABLE only_generated (a INT DEFAULT 1, b INT AS (a + 1) STORED);
INSERT INTO only_generated () VALUES (), (), ();
