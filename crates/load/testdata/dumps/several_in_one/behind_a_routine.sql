-- Under another delimiter: a routine of one statement, TRUNCATE, and a routine that ends in END, in one text, behind rows.
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE c (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE e (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE f (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE g (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE h (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
INSERT INTO a (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO b (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO c (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO e (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO f (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO g (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO h (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
DELIMITER //
CREATE PROCEDURE p() SELECT 1; TRUNCATE TABLE f; TRUNCATE TABLE g; TRUNCATE TABLE h; CREATE FUNCTION i() RETURNS INT BEGIN RETURN 1; END//
DELIMITER ;
INSERT INTO h (id, v) VALUES (1, ''), (5, '');
SELECT i();
