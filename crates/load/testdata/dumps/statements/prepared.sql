-- errors on mysql: values in EXECUTE … USING are MariaDB's
-- PREPARE, EXECUTE … USING, EXECUTE IMMEDIATE, DEALLOCATE: what they touch is in a string.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
PREPARE ins FROM 'INSERT INTO t VALUES (?, ?)';
SET @i = 1, @v = 'one';
EXECUTE ins USING @i, @v;
INSERT INTO t VALUES (2, 'two');
SET @i = 3, @v = 'three';
EXECUTE ins USING @i, @v;
INSERT INTO t VALUES (4, 'four'), (5, 'five');
EXECUTE ins USING 6, 'six';
SET @s = CONCAT('UPDATE t SET v = ', QUOTE('even'), ' WHERE id MOD 2 = 0');
PREPARE upd FROM @s;
EXECUTE upd;
INSERT INTO t VALUES (8, 'late');
DEALLOCATE PREPARE ins;
DROP PREPARE upd;
EXECUTE IMMEDIATE 'INSERT INTO t VALUES (9, ?)' USING 'nine';
EXECUTE IMMEDIATE CONCAT('CREATE TABLE ', 'made', ' AS SELECT * FROM t');
INSERT INTO made VALUES (100, 'after');
