-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A compound block sets variables that decide how tables and rows come out, and that no SET of the dump names.
DELIMITER //
BEGIN NOT ATOMIC
  SET SESSION alter_algorithm = COPY, innodb_strict_mode = 0, explicit_defaults_for_timestamp = 0;
  SET SESSION div_precision_increment = 9, group_concat_max_len = 7, old_mode = '';
END//
DELIMITER ;
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP, at_2 TIMESTAMP, v DECIMAL(20, 12)) ROW_FORMAT = FIXED;
INSERT INTO t VALUES (1, '2020-01-01 12:00:00', '2020-01-01 12:00:00', 1/3);
INSERT INTO t VALUES (2, '2020-01-01 12:00:00', '2020-01-01 12:00:00', 2/3);
