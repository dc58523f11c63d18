-- not on mysql: it is a syntax error there, of a statement that is left out
-- Forms of LOCK TABLES that MySQL does not have.
CREATE TABLE a (id INT PRIMARY KEY);
CREATE TABLE b (id INT PRIMARY KEY);
LOCK TABLE a WRITE CONCURRENT;
INSERT INTO a VALUES (3);
UNLOCK TABLE;
LOCK TABLES a LOW_PRIORITY WRITE, b READ LOCAL;
INSERT INTO a VALUES (4);
UNLOCK TABLES;
