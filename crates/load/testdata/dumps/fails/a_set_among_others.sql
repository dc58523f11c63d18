-- fails: 1193
-- SETs in a row are sent together: one in the middle fails, and with --force those behind it run.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
SET @a = 1;
SET @b = 2;
SET nosuchvariable = 1;
SET @a = 3;
SET SESSION sort_buffer_size = 'x';
SET @b = @a + @b;
INSERT INTO t VALUES (1, @a, @b);
SET nosuchvariable = 2;
SET @a = 4;
SET alsonone = 2;
SHOW WARNINGS;
SET @b = 5;
INSERT INTO t VALUES (2, @a, @b);
