-- RENAME TABLE, also as a swap and into another database, between INSERTs by the old and the new names.
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(10));
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO a VALUES (1, 'was a');
INSERT INTO b VALUES (1, 'was b');
RENAME TABLE a TO tmp, b TO a, tmp TO b;
INSERT INTO a VALUES (2, 'now a');
INSERT INTO b VALUES (2, 'now b');
ALTER TABLE a RENAME TO c;
CREATE TABLE a (n INT, m INT, o INT);
INSERT INTO a VALUES (1, 2, 3);
INSERT INTO c VALUES (3, 'now c');
CREATE DATABASE elsewhere;
RENAME TABLE b TO elsewhere.b;
INSERT INTO elsewhere.b VALUES (3, 'moved');
ALTER TABLE c CHANGE COLUMN v w VARCHAR(20), RENAME COLUMN id TO ident;
INSERT INTO c (w, ident) VALUES ('renamed', 4);
