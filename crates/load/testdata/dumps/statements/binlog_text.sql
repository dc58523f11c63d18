-- What mysqlbinlog's text and foreign dumps put around rows: pseudo variables, comments, sql_log_bin, BINLOG-less.
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;
/*!40019 SET @@session.max_delayed_threads=0*/;
SET @OLD_LOG_BIN=@@SQL_LOG_BIN;
SET @@SESSION.SQL_LOG_BIN= 0;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
SET TIMESTAMP=1400000000/*!*/;
SET @@session.pseudo_thread_id=999/*!*/;
SET @@session.foreign_key_checks=1, @@session.sql_auto_is_null=0, @@session.unique_checks=1, @@session.autocommit=1/*!*/;
SET @@session.auto_increment_increment=1, @@session.auto_increment_offset=1/*!*/;
/*!\C utf8mb4 *//*!*/;
SET @@session.character_set_client=utf8mb4,@@session.collation_connection=33,@@session.collation_server=8/*!*/;
SET @@session.lc_time_names=0/*!*/;
SET @@session.collation_database=DEFAULT/*!*/;
SET INSERT_ID=31/*!*/;
INSERT INTO t () VALUES ()/*!*/;
BEGIN
/*!*/;
SET INSERT_ID=40/*!*/;
INSERT INTO t () VALUES (),()/*!*/;
COMMIT/*!*/;
DELIMITER /*!*/;
INSERT INTO t () VALUES ()
/*!*/;
DELIMITER ;
# End of log file
SET @@SESSION.SQL_LOG_BIN = @OLD_LOG_BIN;
