-- fails: 1062
-- A transaction of rows that the server numbers fails: the numbers that it took are gone.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE);
SET autocommit = 0;
INSERT INTO t (n) VALUES (1), (2);
COMMIT;
INSERT INTO t (n) VALUES (3), (4);
INSERT INTO t (n) VALUES (5), (1);
COMMIT;
