-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- The server does not report the collation that comes with SET NAMES. It is known from the block, and must not outlive it.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(60));
SET NAMES latin1;
DELIMITER //
BEGIN NOT ATOMIC
  INSERT INTO t VALUES (1, 'block', 'block');
END//
DELIMITER ;
SET NAMES utf8mb4;
INSERT INTO t VALUES (2, 'größe 😀', 'größe 😀'), (3, 'x', 'y');
INSERT INTO t VALUES (4, 'größe 😀', 'größe 😀');
SET NAMES latin1;
INSERT INTO t VALUES (5, 'größe', 'größe');
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE collations AS SELECT COLLATION('a') AS c;
INSERT INTO t VALUES (6, 'größe 😀', 'größe 😀');
