-- not on mysql: it lets no default read a user variable
-- A definition makes the server evaluate a default that counts.
CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT (@x := IFNULL(@x, 0) + 1));
INSERT INTO t VALUES (1, DEFAULT), (2, DEFAULT);
CREATE INDEX i ON t (n);
INSERT INTO t VALUES (3, DEFAULT), (4, DEFAULT);
ALTER TABLE t ADD COLUMN m INT DEFAULT 3;
INSERT INTO t (id) VALUES (5), (6);
SELECT @x;
