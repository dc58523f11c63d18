-- errors on mysql: it lets no default read a system variable
-- Defaults that read timeouts and limits which a load may set for its own.
CREATE TABLE t (id INT PRIMARY KEY, w INT DEFAULT (@@wait_timeout), i INT DEFAULT (@@interactive_timeout), l INT DEFAULT (@@lock_wait_timeout),
  n INT DEFAULT (@@net_read_timeout), o INT DEFAULT (@@net_write_timeout), r INT DEFAULT (@@innodb_lock_wait_timeout), s BIGINT UNSIGNED DEFAULT (@@sql_select_limit));
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO t (id) VALUES (3);
