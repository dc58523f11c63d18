-- errors on mysql: it has no @@in_transaction
-- Functions and triggers that ask whether a transaction is open, or set what the next one is.
CREATE TABLE t (id INT);
CREATE TABLE log (id INT, open INT);
DELIMITER //
CREATE FUNCTION reads_only(i INT) RETURNS INT
BEGIN
  SET TRANSACTION READ ONLY;
  RETURN i;
END//
CREATE FUNCTION is_open() RETURNS INT RETURN @@in_transaction//
DELIMITER ;
INSERT INTO t VALUES (1), (2), (3);
DELETE FROM t WHERE id = reads_only(1);
SELECT COUNT(*) FROM t;
INSERT INTO log VALUES (1, is_open());
INSERT INTO log SELECT 2, is_open();
UPDATE t SET id = id + 10 * is_open();
SELECT * FROM log ORDER BY id;
BEGIN;
INSERT INTO log VALUES (3, is_open());
COMMIT;
DELIMITER //
CREATE TRIGGER t_log BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id, @@in_transaction)//
DELIMITER ;
INSERT INTO t VALUES (7);
INSERT INTO t VALUES (8), (9);
CREATE TABLE outer_table (id INT);
CREATE TABLE middle (id INT);
DELIMITER //
CREATE TRIGGER outer_bi BEFORE INSERT ON outer_table FOR EACH ROW INSERT INTO middle VALUES (NEW.id)//
CREATE TRIGGER middle_bi BEFORE INSERT ON middle FOR EACH ROW INSERT INTO log VALUES (NEW.id, @@in_transaction)//
CREATE TABLE called (id INT)//
CREATE TRIGGER called_bi BEFORE INSERT ON called FOR EACH ROW SET NEW.id = NEW.id + is_open()//
DELIMITER ;
INSERT INTO outer_table VALUES (20);
INSERT INTO called VALUES (30);
SELECT is_open();
