-- errors on mysql: it has no compound statements outside of routines
-- A block may have changed the session, so that the load looks at it; FOUND_ROWS() is the dump's all the same.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
DELIMITER //
BEGIN NOT ATOMIC
  SELECT id FROM t;
  SET @@group_concat_max_len = 1024;
END//
DELIMITER ;
UPDATE t SET id = id + 10;
SELECT FOUND_ROWS();
DELIMITER //
BEGIN NOT ATOMIC
  SELECT id FROM t WHERE id = 0;
  SET @@group_concat_max_len = 2048;
END//
DELIMITER ;
UPDATE t SET id = id + 10;
SELECT FOUND_ROWS();
