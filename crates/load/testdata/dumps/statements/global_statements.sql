-- errors on mysql: CHANGE MASTER has another name
-- Statements on the whole server: replication positions, global variables, FLUSH, in mid-stream and undone at the end.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(40));
INSERT INTO t (v) VALUES ('a'), ('b');
CHANGE MASTER TO MASTER_HOST='nowhere.invalid', MASTER_LOG_FILE='bin.000001', MASTER_LOG_POS=4;
SET GLOBAL gtid_slave_pos='0-7-42';
INSERT INTO t (v) VALUES (@@GLOBAL.gtid_slave_pos), ('c');
SET @old_open=@@GLOBAL.table_open_cache, GLOBAL table_open_cache=777;
INSERT INTO t (v) VALUES (@@GLOBAL.table_open_cache), ('d');
FLUSH TABLES WITH READ LOCK;
UNLOCK TABLES;
INSERT INTO t (v) VALUES ('e'), ('f');
FLUSH STATUS;
FLUSH LOGS;
RESET SLAVE ALL;
SET GLOBAL gtid_slave_pos='';
SET GLOBAL table_open_cache=@old_open;
SELECT @@GLOBAL.gtid_slave_pos, @@GLOBAL.table_open_cache = 777;
INSERT INTO t (v) VALUES ('g');
