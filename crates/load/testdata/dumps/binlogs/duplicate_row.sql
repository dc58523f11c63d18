-- fails: 1062
-- errors on mysql: it has no check_constraint_checks, and takes no events without a GTID of MySQL
-- The row event that fails is neither the first nor the last of its transaction.
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;
/*!40019 SET @@session.max_delayed_threads=0*/;
/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;
DELIMITER /*!*/;
ROLLBACK/*!*/;
BINLOG '
HsQDaw8BAAAA/AAAAAABAAABAAQAMTAuMTEuMTktTWFyaWFEQi0wK2RlYjEydTEtbG9nAAAAAAAA
AAAAAAAAAAAAAAAAAAAexANrEzgNAAgAEgAEBAQEEgAA5AAEGggAAAAICAgCAAAACgoKAAAAAAAA
CgoKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAEEwQADQgICAoKCgGlmkiY
'/*!*/;
/*M!100101 SET @@session.skip_parallel_replication=0*//*!*/;
/*M!100001 SET @@session.gtid_domain_id=0*//*!*/;
/*M!100001 SET @@session.server_id=1*//*!*/;
/*M!100001 SET @@session.gtid_seq_no=1*//*!*/;
SET TIMESTAMP=1795408926/*!*/;
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
SET TIMESTAMP=1795408926/*!*/;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b VARCHAR(30)) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=3*//*!*/;
SET TIMESTAMP=1795408926/*!*/;
CREATE TABLE u (id INT PRIMARY KEY, b VARCHAR(30)) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=4*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
HsQDaxMBAAAAMgAAAPEDAAAAABIAAAAAAAEABmxvZ2dlZAABdAADAwMPAngABvs+9mg=
HsQDaxcBAAAARQAAADYEAAAAABIAAAAAAAEAAwf8AQAAAAEAAAD8AgAAAAIAAAD8AwAAAAMAAAD8
BAAAAAQAAACFUSbY
'/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=5*//*!*/;
SET TIMESTAMP=1795408926/*!*/;
INSERT INTO t (id, a) VALUES (100, 6)
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=6*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
HsQDaxMBAAAAMQAAAHkFAAAAABYAAAAAAAEABmxvZ2dlZAABdQACAw8CeAACV/oEkw==
HsQDaxcBAAAAKgAAAKMFAAAAABYAAAAAAAEAAgP8AQAAAANvbmWLbqKc
'/*!*/;

BINLOG '
HsQDaxMBAAAAMgAAAA0GAAAAABIAAAAAAAEABmxvZ2dlZAABdAADAwMPAngABmbhhkc=
HsQDaxgBAAAANgAAAEMGAAAAABIAAAAAAAEAAwcH/AMAAAADAAAA+AMAAAADAAAAAXg7O7Ra
'/*!*/;

BINLOG '
HsQDaxMBAAAAMgAAAL8GAAAAABIAAAAAAAEABmxvZ2dlZAABdAADAwMPAngABsLAouM=
HsQDaxcBAAAAPAAAAPsGAAAAABIAAAAAAAEAAwf4BQAAAAUAAAAEZml2ZfgGAAAABgAAAANzaXhd
AFik
'/*!*/;

BINLOG '
HsQDaxMBAAAAMgAAAF4HAAAAABIAAAAAAAEABmxvZ2dlZAABdAADAwMPAngABiFUTuU=
HsQDaxkBAAAAKgAAAIgHAAAAABIAAAAAAAEAAwf8AQAAAAEAAADJRRbG
'/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=7*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
HsQDaxMBAAAAMQAAADgIAAAAABYAAAAAAAEABmxvZ2dlZAABdQACAw8CeAACREn8VQ==
HsQDaxcBAAAAKgAAAGIIAAAAABYAAAAAAAEAAgP8AgAAAAN0d299mCnw
'/*!*/;
COMMIT/*!*/;
DELIMITER ;
ROLLBACK /* added by mysqlbinlog */;
/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;
