-- errors on mysql: it lets no default read a user variable
-- A default that reads the session is added, changed and dropped between rows; one stands in a copy of the table.
CREATE TABLE t (id INT PRIMARY KEY, v INT DEFAULT 1);
SET @x = 5;
INSERT INTO t (id) VALUES (1), (2);
ALTER TABLE t ALTER COLUMN v SET DEFAULT (@x);
INSERT INTO t (id) VALUES (3), (4);
CREATE TABLE u LIKE t;
INSERT INTO u (id) VALUES (1), (2);
ALTER TABLE t ADD COLUMN w INT DEFAULT (@x + 1);
INSERT INTO t (id) VALUES (5), (6);
ALTER TABLE t MODIFY v INT DEFAULT 7, MODIFY w INT DEFAULT 8;
INSERT INTO t (id) VALUES (9), (10);
