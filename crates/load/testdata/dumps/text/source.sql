-- source and \. : nested files, statements that go on after them, state that a file leaves behind.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30));
INSERT INTO t (v) VALUES ('before');
source sourced/rows.sql
INSERT INTO t (v) VALUES ('between');
\. sourced/state.sql
INSERT INTO t (v) VALUES ('a\b'), ('é')//
SOURCE sourced/delimited.sql
DELIMITER ;
source sourced/rows.sql;
INSERT INTO t (v) VALUES ('after');
SELECT @from_file;
