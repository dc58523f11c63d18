-- Numbers for the next row, as mariadb-binlog prints them: several in one transaction, with times between, and rows that bring
-- their own number meanwhile.
CREATE TABLE r (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(100));
CREATE TABLE q (id INT AUTO_INCREMENT PRIMARY KEY, a INT);
BEGIN;
SET INSERT_ID=5;
INSERT INTO r (a) VALUES ('a');
SET INSERT_ID=15;
INSERT INTO r (a) VALUES ('b');
SET TIMESTAMP=1700000000;
SET INSERT_ID=25;
SET TIMESTAMP=1700000001;
INSERT INTO r (a) VALUES ('c');
COMMIT;
SET TIMESTAMP=DEFAULT;
INSERT INTO r (a) SELECT CONCAT(a, 'x') FROM r;
INSERT INTO q (a) VALUES (1), (2);
SET INSERT_ID=40;
INSERT INTO r VALUES (30, 'own');
INSERT INTO q VALUES (50, 3);
INSERT INTO r (a) VALUES ('given');
INSERT INTO r (a) VALUES ('next');
SET @@session.insert_id=20+30;
INSERT INTO r (a) VALUES ('computed');
INSERT INTO q (a) VALUES (4);
SELECT * FROM r ORDER BY id;
