-- fails: 1061
-- After a failure the session's variables are read again: those that are global have changed too, and are no session's.
SET @before = @@GLOBAL.innodb_stats_auto_recalc, @flush = @@GLOBAL.innodb_flush_log_at_trx_commit;
CREATE TABLE t (id INT PRIMARY KEY, a INT) ENGINE=InnoDB;
SET GLOBAL innodb_stats_auto_recalc = 1 - @before, GLOBAL innodb_flush_log_at_trx_commit = 2;
CREATE PROCEDURE p() ALTER TABLE t ADD INDEX a (a), ADD INDEX a (a);
CALL p();
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO u VALUES (3);
SET GLOBAL innodb_stats_auto_recalc = @before, GLOBAL innodb_flush_log_at_trx_commit = @flush;
