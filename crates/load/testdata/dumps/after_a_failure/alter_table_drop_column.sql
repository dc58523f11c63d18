-- fails: 1062
-- ALTER TABLE … DROP COLUMN behind a failed INSERT takes no column away.
CREATE TABLE keep (id INT PRIMARY KEY, v VARCHAR(20), KEY by_v (v));
CREATE TABLE other (n INT);
CREATE TABLE parts (id INT PRIMARY KEY, v INT, KEY by_v (v)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20));
CREATE DATABASE elsewhere;
CREATE TABLE elsewhere.t (id INT PRIMARY KEY);
CREATE FUNCTION f() RETURNS INT RETURN 1;
CREATE PROCEDURE p() SELECT 1;
CREATE VIEW w AS SELECT 1 AS n;
CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO SELECT 1;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
INSERT INTO keep VALUES (1, 'old'), (2, 'older');
INSERT INTO parts VALUES (1, 1), (11, 11);
INSERT INTO elsewhere.t VALUES (1);
INSERT INTO other VALUES (1), (2);
CREATE TRIGGER tr BEFORE INSERT ON other FOR EACH ROW SET NEW.n = 1;
INSERT INTO t (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij');
INSERT INTO t (id, v) VALUES (3, 'abcdefghij'), (4, 'abcdefghij'), (5, 'abcdefghij'), (6, 'abcdefghij'), (7, 'abcdefghij'), (8, 'abcdefghij'), (1, 'twice');
ALTER TABLE keep DROP COLUMN v;
