-- errors on mysql: a BLOB has no constant default
-- DEFAULT in VALUES for each kind of default: constant, none, NULL, expression, time, sequence of another column.
SET timestamp=1500000000, time_zone='+00:00';
CREATE TABLE t (
  id INT PRIMARY KEY,
  a INT NOT NULL DEFAULT 3,
  b VARCHAR(20) DEFAULT NULL,
  c VARCHAR(20) DEFAULT (CONCAT('id ', id)),
  d TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  e BLOB DEFAULT 'blob',
  f INT DEFAULT (a * 2),
  g ENUM('x','y') NOT NULL,
  h BIT(4) DEFAULT b'1010',
  i DATETIME(3) DEFAULT NOW(3)
);
INSERT INTO t VALUES (1, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, 'x', DEFAULT, DEFAULT);
INSERT INTO t VALUES (2, 5, 'b', 'c', '2020-01-01', 'e', 1, 'y', b'1', '2020-01-01 01:02:03.456'), (3, 6, DEFAULT, DEFAULT, DEFAULT, 'e', DEFAULT, 'y', DEFAULT, DEFAULT);
INSERT INTO t (id, a, g) VALUES (4, DEFAULT, DEFAULT), (5, 9, 'y');
INSERT INTO t (g, f, id) VALUES (DEFAULT, DEFAULT, 6);
INSERT INTO t (id, a, c) VALUES (7, default, dEFAULT), (8, 8, 'set');
SET sql_mode='';
INSERT INTO t (id) VALUES (9), (10);
INSERT INTO t (id, a, d) VALUES (11, 1, NULL);
