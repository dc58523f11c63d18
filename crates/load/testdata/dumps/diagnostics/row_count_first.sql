-- errors on mysql: it has no @@in_transaction
-- ROW_COUNT() as the first statement of a session, and @@in_transaction outside of any.
SELECT ROW_COUNT();
SELECT @@in_transaction, @@identity, @@insert_id, @@warning_count, FOUND_ROWS();
CREATE TABLE t (id INT PRIMARY KEY, n INT);
INSERT INTO t VALUES (1, ROW_COUNT());
INSERT INTO t VALUES (2, @@in_transaction);
SELECT * FROM t ORDER BY id;
UPDATE t SET n = @@in_transaction WHERE id = 1;
