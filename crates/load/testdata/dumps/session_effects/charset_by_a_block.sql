-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A compound block sets the collation of the connection; a function sets the database's.
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20), n VARCHAR(60));
DELIMITER //
BEGIN NOT ATOMIC SET collation_connection = latin1_swedish_ci; END//
DELIMITER ;
INSERT INTO t VALUES (1, 'a', COLLATION('a'));
CREATE TABLE u (c VARCHAR(10) DEFAULT 'é');
CREATE VIEW v AS SELECT 'é' AS c;
DELIMITER //
BEGIN NOT ATOMIC SET collation_server = latin1_bin; END//
DELIMITER ;
CREATE DATABASE elsewhere;
CREATE TABLE elsewhere.t (c VARCHAR(10));
INSERT INTO t VALUES (2, 'b', COLLATION('a'));
