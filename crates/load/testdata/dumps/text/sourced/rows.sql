INSERT INTO t (v) VALUES ('sourced 1'), ('sourced 2');
INSERT INTO t (v) VALUES ('sourced 3');
SET @from_file = IFNULL(@from_file, 0) + 1;
