-- errors on mysql: it lets no default read a system variable
-- Defaults that read what stands for the connection: all rows of a dump come over one.
CREATE TABLE t (id INT PRIMARY KEY, v BIGINT DEFAULT (CONNECTION_ID()), w BIGINT DEFAULT (@@pseudo_thread_id), x VARCHAR(100) DEFAULT (CURRENT_ROLE()));
CREATE TABLE result (n INT, m INT);
INSERT INTO t (id) VALUES (1), (2);
INSERT INTO t (id) VALUES (3), (4);
INSERT INTO t (id) VALUES (5);
INSERT INTO result SELECT COUNT(DISTINCT v), COUNT(DISTINCT w) FROM t;
INSERT INTO result SELECT COUNT(*), SUM(v = CONNECTION_ID()) FROM t;
UPDATE t SET v = 0, w = 0;
