-- Triggers: before and after each event, several in an order, with names and bodies that need quoting, under sql modes.
CREATE TABLE account (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30), balance DECIMAL(10,2) NOT NULL DEFAULT 0);
CREATE TABLE journal (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100));
DELIMITER $$
CREATE TRIGGER `ac;count bi` BEFORE INSERT ON account FOR EACH ROW SET NEW.name = TRIM(NEW.name)$$
CREATE TRIGGER account_ai AFTER INSERT ON account FOR EACH ROW
BEGIN
  IF NEW.balance > 100 THEN
    INSERT INTO journal (what) VALUES (CONCAT('rich; ', NEW.id));
  ELSE
    INSERT INTO journal (what) VALUES (CONCAT("new ", NEW.id, ' it''s \\ '));
  END IF;
END$$
CREATE TRIGGER account_ai2 AFTER INSERT ON account FOR EACH ROW FOLLOWS account_ai INSERT INTO journal (what) VALUES ('second')$$
CREATE TRIGGER account_ai0 AFTER INSERT ON account FOR EACH ROW PRECEDES account_ai INSERT INTO journal (what) VALUES ('zeroth')$$
CREATE TRIGGER account_bu BEFORE UPDATE ON account FOR EACH ROW SET NEW.balance = GREATEST(NEW.balance, 0)$$
CREATE TRIGGER account_ad AFTER DELETE ON account FOR EACH ROW INSERT INTO journal (what) VALUES (CONCAT('gone ', OLD.id))$$
SET sql_mode='ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'$$
CREATE TRIGGER journal_bi BEFORE INSERT ON journal FOR EACH ROW SET NEW."what" = NEW.what || '\'$$
SET sql_mode=DEFAULT$$
DELIMITER ;
INSERT INTO account (name, balance) VALUES (' ann ', 5), ('bob', 500), ('eve', 1);
UPDATE account SET balance = -7 WHERE name = 'eve';
DELETE FROM account WHERE name = 'bob';
INSERT INTO account (name) VALUES ('carl');
