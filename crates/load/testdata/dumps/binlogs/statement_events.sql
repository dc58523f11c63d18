-- errors on mysql: it has no check_constraint_checks, and takes no events without a GTID of MySQL
-- Statements as mariadb-binlog prints them, each with its time and the number of its rows.
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;
/*!40019 SET @@session.max_delayed_threads=0*/;
/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;
DELIMITER /*!*/;
ROLLBACK/*!*/;
BINLOG '
HcQDaw8BAAAA/AAAAAABAAABAAQAMTAuMTEuMTktTWFyaWFEQi0wK2RlYjEydTEtbG9nAAAAAAAA
AAAAAAAAAAAAAAAAAAAdxANrEzgNAAgAEgAEBAQEEgAA5AAEGggAAAAICAgCAAAACgoKAAAAAAAA
CgoKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAEEwQADQgICAoKCgF88V1G
'/*!*/;
/*M!100101 SET @@session.skip_parallel_replication=0*//*!*/;
/*M!100001 SET @@session.gtid_domain_id=0*//*!*/;
/*M!100001 SET @@session.server_id=1*//*!*/;
/*M!100001 SET @@session.gtid_seq_no=1*//*!*/;
SET TIMESTAMP=1795408925/*!*/;
SET @@session.pseudo_thread_id=5/*!*/;
SET @@session.foreign_key_checks=1, @@session.sql_auto_is_null=0, @@session.unique_checks=1, @@session.autocommit=1, @@session.check_constraint_checks=1, @@session.sql_if_exists=0, @@session.explicit_defaults_for_timestamp=1, @@session.system_versioning_insert_history=0/*!*/;
SET @@session.sql_mode=1411383296/*!*/;
SET @@session.auto_increment_increment=1, @@session.auto_increment_offset=1/*!*/;
/*!\C utf8mb4 *//*!*/;
SET @@session.character_set_client=utf8mb4,@@session.collation_connection=45,@@session.collation_server=45/*!*/;
SET @@session.lc_time_names=0/*!*/;
SET @@session.collation_database=DEFAULT/*!*/;
CREATE DATABASE logged
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=2*//*!*/;
use `logged`/*!*/;
SET TIMESTAMP=1795408925/*!*/;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b VARCHAR(30), c TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3)) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=3*//*!*/;
SET TIMESTAMP=1795408925/*!*/;
CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT, of INT, r DOUBLE) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=4*//*!*/;
SET TIMESTAMP=1795408925/*!*/;
CREATE TABLE l (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(40)) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=5*//*!*/;
SET TIMESTAMP=1795408925.565675/*!*/;
CREATE DEFINER=`root`@`localhost` TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO l (what) VALUES (CONCAT('t', NEW.a))
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=6*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=1/*!*/;
SET TIMESTAMP=1795408925.575572/*!*/;
INSERT INTO t (a, b) VALUES (1, 'one'), (2, 'two'), (3, 'drei')
/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=7*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=4/*!*/;
SET TIMESTAMP=1000000000.250000/*!*/;
INSERT INTO t (a, b) VALUES (4, 'vier')
/*!*/;
SET LAST_INSERT_ID=4/*!*/;
SET INSERT_ID=1/*!*/;
SET @@RAND_SEED1=659245105, @@RAND_SEED2=641345717/*!*/;
SET TIMESTAMP=1000000000/*!*/;
INSERT INTO u (of, r) VALUES (LAST_INSERT_ID(), RAND())
/*!*/;
SET TIMESTAMP=1000000001.500000/*!*/;
SET @@session.time_zone='SYSTEM'/*!*/;
UPDATE t SET b = NOW(3) WHERE a = 2
/*!*/;
SET INSERT_ID=5/*!*/;
SET @`n`:=5/*!*/;
SET @`v`:=_utf8mb4 X'76616C7565' COLLATE `utf8mb4_general_ci`/*!*/;
SET TIMESTAMP=1000000001.500000/*!*/;
INSERT INTO t (a, b) VALUES (@n, @v), (6, NOW())
/*!*/;
SET TIMESTAMP=1000000001/*!*/;
DELETE FROM t WHERE a = 1
/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=8*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=50/*!*/;
SET TIMESTAMP=1000000001/*!*/;
INSERT INTO u (of) VALUES (1), (2)
/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=9*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=40/*!*/;
SET TIMESTAMP=1000000001.500000/*!*/;
INSERT INTO t (a, b) VALUES (7, 'sieben')
/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=10*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=52/*!*/;
SET TIMESTAMP=1000000001/*!*/;
INSERT INTO u (of) SELECT a FROM t ORDER BY id
/*!*/;
SET TIMESTAMP=1000000001/*!*/;
UPDATE u SET r = 1 WHERE of > 4
/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=11*//*!*/;
START TRANSACTION
/*!*/;
SET INSERT_ID=59/*!*/;
SET TIMESTAMP=1795408925/*!*/;
INSERT INTO u (of) VALUES (9)
/*!*/;
COMMIT/*!*/;
DELIMITER ;
ROLLBACK /* added by mysqlbinlog */;
/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;
