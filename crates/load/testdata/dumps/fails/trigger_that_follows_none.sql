-- fails: 4031; on mysql: 3011
-- A trigger is to follow one that does not exist: MariaDB's error number is that of MySQL's idle timeout.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW FOLLOWS nosuch SET @a := 2;
INSERT INTO t VALUES (2);
