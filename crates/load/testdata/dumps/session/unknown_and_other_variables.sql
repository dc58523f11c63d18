-- errors on mysql: check_constraint_checks is MariaDB's
-- Variables that bend the rows themselves: auto_increment_increment, div_precision_increment, sql_safe_updates,
-- group_concat_max_len, default_storage_engine, big_tables, check_constraint_checks, sql_auto_is_null.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v DECIMAL(20,10), c INT CHECK (c > 0));
SET auto_increment_increment=10, auto_increment_offset=3;
INSERT INTO t (v, c) VALUES (1/3, 1), (2/3, 2);
SET div_precision_increment=9;
INSERT INTO t (v, c) VALUES (1/3, 3), (2/3, 4);
SET auto_increment_increment=1, auto_increment_offset=1;
INSERT INTO t (v, c) VALUES (1, 5), (2, 6);
SET check_constraint_checks=0;
INSERT INTO t (v, c) VALUES (3, -5), (4, 0);
SET check_constraint_checks=1;
SET default_storage_engine=MyISAM;
CREATE TABLE m (id INT);
INSERT INTO m VALUES (1), (2);
SET default_storage_engine=InnoDB;
CREATE TABLE i (id INT);
INSERT INTO i VALUES (1), (2);
SET sql_auto_is_null=1;
INSERT INTO t (v, c) VALUES (9, 9);
SELECT id, v FROM t WHERE id IS NULL;
