-- What the dump reads of variables that a load may set for its own is what it has set.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(200));
INSERT INTO t VALUES (1, 'a');
SELECT @@wait_timeout, @@net_read_timeout, @@net_write_timeout, @@lock_wait_timeout, @@innodb_lock_wait_timeout, @@autocommit, @@unique_checks, @@foreign_key_checks, @@session_track_schema, @@sql_log_bin, @@character_set_client, @@character_set_results;
INSERT INTO t VALUES (2, CONCAT_WS(',', @@wait_timeout, @@lock_wait_timeout, @@unique_checks, @@foreign_key_checks));
SET wait_timeout = 1000, lock_wait_timeout = 100;
INSERT INTO t VALUES (3, CONCAT_WS(',', @@wait_timeout, @@lock_wait_timeout, @@unique_checks, @@foreign_key_checks));
SELECT @@wait_timeout, @@lock_wait_timeout;
SHOW VARIABLES WHERE Variable_name IN ('wait_timeout', 'lock_wait_timeout', 'last_insert_id', 'identity', 'in_transaction', 'autocommit');
