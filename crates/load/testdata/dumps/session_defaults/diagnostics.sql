-- errors on mysql: it lets no default read a system variable
-- Defaults that read what the statement before did.
CREATE TABLE s (id INT PRIMARY KEY, n TINYINT);
CREATE TABLE t (id INT PRIMARY KEY, w INT DEFAULT (@@warning_count), e INT DEFAULT (@@error_count));
SET sql_mode = '';
INSERT INTO s VALUES (1, 999), (2, 2);
INSERT INTO t (id) VALUES (1);
INSERT INTO s VALUES (3, 999), (4, 'x');
INSERT INTO t (id) VALUES (2);
SELECT id FROM s ORDER BY id;
INSERT INTO t (id) VALUES (3);
