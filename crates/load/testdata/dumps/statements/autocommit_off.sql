-- SET autocommit=0, COMMIT per table as --no-autocommit writes it, and a rest that nobody commits.
CREATE TABLE a (id INT PRIMARY KEY, v INT);
CREATE TABLE b (id INT PRIMARY KEY, v INT);
set autocommit=0;
INSERT INTO a VALUES (1, 1), (2, 2);
INSERT INTO a VALUES (3, 3);
commit;
INSERT INTO b VALUES (1, 1), (2, 2);
ROLLBACK;
INSERT INTO b VALUES (3, 3);
SET autocommit=1;
INSERT INTO b VALUES (4, 4);
SET autocommit=0;
INSERT INTO a VALUES (4, 4);
INSERT INTO b VALUES (5, 5);
CREATE TABLE c (id INT PRIMARY KEY);
INSERT INTO c VALUES (1), (2);
SELECT COUNT(*) FROM c;
INSERT INTO a VALUES (5, 5), (6, 6);
