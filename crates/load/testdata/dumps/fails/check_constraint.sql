-- fails: 4025; on mysql: 3819
-- A row that a CHECK refuses.
CREATE TABLE t (id INT PRIMARY KEY, v INT CHECK (v > 0), j JSON);
INSERT INTO t VALUES (1, 1, '{}'), (2, 2, '[]');
INSERT INTO t VALUES (3, 3, '1'), (4, -4, '1');
INSERT INTO t VALUES (5, 5, 'no json');
INSERT INTO t VALUES (6, 6, NULL);
