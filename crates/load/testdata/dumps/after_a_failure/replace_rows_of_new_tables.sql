-- fails: 1062
-- REPLACE behind a failed INSERT replaces no row that the load itself has inserted before, in one table, in a table of which
-- the load knows that it was not there, and behind REPLACE in the same.
DROP TABLE IF EXISTS keep, again, t;
CREATE TABLE keep (id INT PRIMARY KEY, v VARCHAR(20), KEY by_v (v));
INSERT INTO keep VALUES (1, 'old'), (2, 'older');
CREATE TABLE again (id INT PRIMARY KEY, v VARCHAR(20));
REPLACE INTO again VALUES (1, 'old'), (2, 'older');
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), h VARCHAR(128) AS (SHA2(REPEAT(v, 80000), 512)) STORED);
INSERT INTO t (id, v) VALUES (1, 'abcdefghij'), (2, 'abcdefghij');
INSERT INTO t (id, v) VALUES (3, 'abcdefghij'), (4, 'abcdefghij'), (5, 'abcdefghij'), (6, 'abcdefghij'), (7, 'abcdefghij'), (8, 'abcdefghij'), (1, 'twice');
REPLACE INTO keep VALUES (1, 'new');
REPLACE INTO again VALUES (2, 'new');
