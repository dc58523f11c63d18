-- errors on mysql: CREATE OR REPLACE is MariaDB's
-- CREATE OR REPLACE SCHEMA of the default database, whose tables get rows meanwhile.
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE c (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE e (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE f (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE g (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE h (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE i (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE j (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
INSERT INTO a (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO b (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO c (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO e (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO f (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO g (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO h (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO i (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO j (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
CREATE OR REPLACE SCHEMA hortator_case CHARACTER SET latin1;
USE hortator_case;
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO a VALUES (9, 'é');
