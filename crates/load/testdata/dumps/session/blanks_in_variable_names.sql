-- not on mysql: its SET takes other forms
-- Variables whose names are divided by blanks.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40));
SET @x = 1;
SET @@session . sql_mode = 'NO_BACKSLASH_ESCAPES';
SET @a = 'x\';
INSERT INTO t VALUES (1, @@sql_mode), (2, @a);
SET @b = @@session . sql_mode;
SET @@local . sql_mode = '';
INSERT INTO t VALUES (3, @b), (4, 'y\\');
