-- errors on mysql: it has no @@in_transaction
-- Questions behind questions, constants and SETs: no transaction is open, and the last number is that of the last INSERT.
CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(120));
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT) ENGINE=MEMORY;
SELECT 1;
INSERT INTO t (n) VALUES (1), (2);
INSERT INTO log (what) VALUES (ROW_COUNT());
SELECT @@identity, @@last_insert_id, @@in_transaction, @@insert_id;
INSERT INTO t (id, n) VALUES (0, 2), (18, 2), (19, 21);
SELECT 'a constant' AS printed;
SELECT @@identity, @@last_insert_id, @@in_transaction;
INSERT INTO log (what) VALUES ('a'), ('b');
SET @x = 1;
SELECT @@identity, @x;
INSERT INTO log (what) VALUES ('c'), ('d');
SET @x = 2;
INSERT INTO log (what) VALUES (ROW_COUNT());
SELECT @@identity, @@last_insert_id;
