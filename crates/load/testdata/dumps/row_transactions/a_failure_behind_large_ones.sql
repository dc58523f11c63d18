-- fails: 1062
-- ahead: later
-- What was committed before a failure stays; the transaction that fails, and all behind it, do not.
CREATE TABLE a (id INT PRIMARY KEY);
CREATE TABLE b (id INT PRIMARY KEY);
CREATE TABLE later (id INT PRIMARY KEY);
SET autocommit = 0;
INSERT INTO a VALUES (1);
INSERT INTO a VALUES (2);
COMMIT;
INSERT INTO b VALUES (1);
INSERT INTO b VALUES (2);
INSERT INTO b VALUES (1);
INSERT INTO b VALUES (3);
COMMIT;
INSERT INTO later VALUES (1);
INSERT INTO later VALUES (2);
COMMIT;
