-- errors on mysql: it has no check_constraint_checks, and takes no events without a GTID of MySQL
-- Row events of a session with its checks off say so themselves.
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;
/*!40019 SET @@session.max_delayed_threads=0*/;
/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;
DELIMITER /*!*/;
ROLLBACK/*!*/;
BINLOG '
+sMDaw8BAAAA/AAAAAABAAABAAQAMTAuMTEuMTktTWFyaWFEQi0wK2RlYjEydTEtbG9nAAAAAAAA
AAAAAAAAAAAAAAAAAAD6wwNrEzgNAAgAEgAEBAQEEgAA5AAEGggAAAAICAgCAAAACgoKAAAAAAAA
CgoKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAEEwQADQgICAoKCgG/Nosi
'/*!*/;
/*M!100101 SET @@session.skip_parallel_replication=0*//*!*/;
/*M!100001 SET @@session.gtid_domain_id=0*//*!*/;
/*M!100001 SET @@session.server_id=1*//*!*/;
/*M!100001 SET @@session.gtid_seq_no=1*//*!*/;
SET TIMESTAMP=1795408890/*!*/;
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
SET TIMESTAMP=1795408890/*!*/;
CREATE TABLE p (id INT PRIMARY KEY) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=3*//*!*/;
SET TIMESTAMP=1795408890/*!*/;
CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id)) ENGINE=InnoDB
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=4*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
+sMDaxMBAAAALwAAANUDAAAAABIAAAAAAAEABmxvZ2dlZAABYwACAwMAAqbc+W4=
+sMDaxcBAAAAMwAAAAgEAAAAABIAAAAAAAMAAgP8AQAAAAEAAAD8AgAAAAIAAADabZ+a
'/*!*/;

BINLOG '
+sMDaxMBAAAALgAAAGUEAAAAABYAAAAAAAEABmxvZ2dlZAABcAABAwAAeJOHrg==
+sMDaxcBAAAAJgAAAIsEAAAAABYAAAAAAAMAAQH+AQAAANGRdYw=
'/*!*/;
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=5*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
+sMDaxMBAAAALgAAADYFAAAAABYAAAAAAAEABmxvZ2dlZAABcAABAwAA27ZD+g==
+sMDaxcBAAAAKwAAAGEFAAAAABYAAAAAAAEAAQH+AgAAAP4DAAAAEnuihg==
'/*!*/;

BINLOG '
+sMDaxMBAAAALwAAAMIFAAAAABIAAAAAAAEABmxvZ2dlZAABYwACAwMAAgWZVjo=
+sMDaxcBAAAAKgAAAOwFAAAAABIAAAAAAAEAAgP8AwAAAAMAAADG9Loi
'/*!*/;

BINLOG '
+sMDaxMBAAAALwAAAFEGAAAAABIAAAAAAAEABmxvZ2dlZAABYwACAwMAAuEHkJo=
+sMDaxgBAAAANAAAAIUGAAAAABIAAAAAAAEAAgMD/AMAAAADAAAA/AMAAAABAAAAdWwqvw==
'/*!*/;
COMMIT/*!*/;
DELIMITER ;
ROLLBACK /* added by mysqlbinlog */;
/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;
