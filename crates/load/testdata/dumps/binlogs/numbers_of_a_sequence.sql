-- Of a mixed log: numbers are drawn from a sequence outside of INSERTs, and by defaults. Row events lock the sequence.
-- not on mysql: a log of MariaDB
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;
/*!40019 SET @@session.max_delayed_threads=0*/;
/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;
DELIMITER /*!*/;
ROLLBACK/*!*/;
BINLOG '
7dsKaw8BAAAA/AAAAAABAAABAAQAMTAuMTEuMTktTWFyaWFEQi0wK2RlYjEydTEtbG9nAAAAAAAA
AAAAAAAAAAAAAAAAAADt2wprEzgNAAgAEgAEBAQEEgAA5AAEGggAAAAICAgCAAAACgoKAAAAAAAA
CgoKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAEEwQADQgICAoKCgE6PIn+
'/*!*/;
/*M!100101 SET @@session.skip_parallel_replication=0*//*!*/;
/*M!100001 SET @@session.gtid_domain_id=0*//*!*/;
/*M!100001 SET @@session.server_id=1*//*!*/;
/*M!100001 SET @@session.gtid_seq_no=1*//*!*/;
SET TIMESTAMP=1795873773/*!*/;
SET @@session.pseudo_thread_id=5/*!*/;
SET @@session.foreign_key_checks=1, @@session.sql_auto_is_null=0, @@session.unique_checks=1, @@session.autocommit=1, @@session.check_constraint_checks=1, @@session.sql_if_exists=0, @@session.explicit_defaults_for_timestamp=1, @@session.system_versioning_insert_history=0/*!*/;
SET @@session.sql_mode=1411383296/*!*/;
SET @@session.auto_increment_increment=1, @@session.auto_increment_offset=1/*!*/;
/*!\C utf8mb3 *//*!*/;
SET @@session.character_set_client=utf8mb3,@@session.collation_connection=33,@@session.collation_server=45/*!*/;
SET @@session.lc_time_names=0/*!*/;
SET @@session.collation_database=DEFAULT/*!*/;
create database if not exists hortator_case
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=2*//*!*/;
use `hortator_case`/*!*/;
SET TIMESTAMP=1795873773/*!*/;
create sequence s
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=3*//*!*/;
START TRANSACTION
/*!*/;
#Q> select nextval(s)

BINLOG '
7dsKaxMBAAAAPAAAAAEDAAAAABIAAAAAAAEADWhvcnRhdG9yX2Nhc2UAAXMACAgICAgICAEIAACJ
QNPB
7dsKaxcBAAAAWwAAAFwDAAAAABIAAAAAAAEACP8A6QMAAAAAAAABAAAAAAAAAP7///////9/AQAA
AAAAAAABAAAAAAAAAOgDAAAAAAAAAAAAAAAAAAAApxca3w==
'/*!*/;
# Number of rows: 1
SET TIMESTAMP=1795873773/*!*/;
COMMIT
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=4*//*!*/;
SET TIMESTAMP=1795873773/*!*/;
create table d(a int default nextval(s), b int)
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=5*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
7dsKaxMBAAAANgAAALwEAAAAABYAAAAAAAEADWhvcnRhdG9yX2Nhc2UAAWQAAgMDAAOe5vDn
7dsKaxcBAAAAMwAAAO8EAAAAABYAAAAAAAEAAgP8AgAAAAEAAAD8AwAAAAIAAACPtGp7
'/*!*/;
# Number of rows: 2
COMMIT/*!*/;
/*M!100001 SET @@session.gtid_seq_no=6*//*!*/;
SET TIMESTAMP=1795873773/*!*/;
create table e (a int primary key)
/*!*/;
/*M!100001 SET @@session.gtid_seq_no=7*//*!*/;
START TRANSACTION
/*!*/;

BINLOG '
7dsKaxMBAAAANQAAAA4GAAAAABcAAAAAAAEADWhvcnRhdG9yX2Nhc2UAAWUAAQMAANi4GYk=
7dsKaxcBAAAAJgAAADQGAAAAABcAAAAAAAEAAQH+BAAAAAzcOzk=
'/*!*/;
# Number of rows: 1
COMMIT/*!*/;
DELIMITER ;
ROLLBACK /* added by mysqlbinlog */;
/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;
/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;
