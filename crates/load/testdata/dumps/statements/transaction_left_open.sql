-- BEGIN without COMMIT at the end of the stream: the client hangs up and the server rolls back.
CREATE TABLE a (id INT PRIMARY KEY, v INT);
INSERT INTO a VALUES (1, 1);
BEGIN;
INSERT INTO a VALUES (2, 2), (3, 3);
INSERT INTO a VALUES (4, 4);
SELECT COUNT(*) FROM a;
