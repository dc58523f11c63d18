-- fails: 1193; on mysql: 1094
-- What MySQL's dumps say to the whole server and MariaDB does not know; a KILL of nobody.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';
INSERT INTO t VALUES (2);
KILL QUERY 4000000000;
INSERT INTO t VALUES (3);
