-- fails: 1060
-- A definition fails for which the next statement waits: the client leaves the table.
CREATE TABLE notes (id INT NOT NULL PRIMARY KEY, amount INT) ENGINE=InnoDB;
CREATE TABLE copy1 LIKE notes;
INSERT INTO copy1 VALUES (1, 2);
ALTER TABLE copy1 ADD COLUMN amount INT;
DROP TABLE copy1;
CREATE TABLE copy2 LIKE notes;
ALTER TABLE copy2 ADD COLUMN remark INT;
DROP TABLE notes;
