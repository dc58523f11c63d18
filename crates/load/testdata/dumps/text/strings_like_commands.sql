-- errors on mysql: SYSTEM is a reserved word
-- Lines inside a string or a statement that look like the client's commands.
CREATE TABLE t (
source INT,
use_it INT,
help VARCHAR(200),
status INT,
quit INT,
exit_code INT,
connect INT,
print INT,
go INT,
system VARCHAR(10),
delimiter INT
);
INSERT INTO t (help) VALUES ('
DELIMITER //
use mysql
source /etc/passwd
\. /etc/passwd
quit
go
\q
;
-- kept
# kept
/* kept */
\g
');
INSERT INTO t (source, help,
delimiter
) VALUES (1, 'x', 2), (
2, '
exit
', 3);
INSERT INTO t (help) VALUES ("
delimiter $$
");
CREATE TABLE `x
use mysql
x` (id INT);
INSERT INTO `x
use mysql
x` VALUES (1),(2);
/*
delimiter //
use mysql
source nothing
*/
INSERT INTO t (status) VALUES (5);
