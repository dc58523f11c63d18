-- fails: 1242
-- A SELECT that fails after its first rows: the client prints none of them.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
SELECT id FROM t ORDER BY id;
SELECT id, (SELECT u.id FROM t AS u WHERE u.id + t.id > 4) FROM t ORDER BY id;
SELECT COUNT(*) FROM t;
