/*M!999999\- enable the sandbox mode */ 
-- The first line of a dump of newer tools: the sandbox command, known to newer clients, a comment to the server.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
