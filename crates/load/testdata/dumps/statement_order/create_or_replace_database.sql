-- errors on mysql: CREATE OR REPLACE is MariaDB's
-- CREATE OR REPLACE DATABASE waits for the rows of its tables, which take long here.
CREATE DATABASE d;
CREATE TABLE d.a (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.b (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.c (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.e (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.f (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.g (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.h (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.i (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
CREATE TABLE d.j (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
INSERT INTO d.a (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.b (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.c (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.e (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.f (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.g (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.h (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.i (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
INSERT INTO d.j (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij'), (3, 'abcdefghij'), (4, 'abcdefghij');
CREATE OR REPLACE DATABASE d;
CREATE TABLE d.a (id INT PRIMARY KEY);
INSERT INTO d.a VALUES (9);
