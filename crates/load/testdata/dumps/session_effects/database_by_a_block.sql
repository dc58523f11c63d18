-- errors on mysql: BEGIN NOT ATOMIC is MariaDB's
-- A USE in a prepared statement.
CREATE DATABASE elsewhere;
CREATE TABLE t (id INT PRIMARY KEY);
CREATE TABLE elsewhere.t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
EXECUTE IMMEDIATE 'USE elsewhere';
INSERT INTO t VALUES (3), (4);
USE hortator_case;
INSERT INTO t VALUES (5), (6);
