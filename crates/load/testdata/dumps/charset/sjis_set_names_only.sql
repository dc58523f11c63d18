-- sjis by SET NAMES alone: the client's own lexer stays at utf8mb4, the server's does not; letters without a backslash in them.
SET NAMES sjis;
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) CHARACTER SET sjis, u VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(40));
INSERT INTO t VALUES (1,'‚ ‚¢','‚ ','‚ '),(2,'±²','±','±');
INSERT INTO t VALUES (3,'ˆ¤','ˆ¤\n','ˆ¤');
INSERT INTO t VALUES (4,'•\n','•\n','•\n'),(5,'a','b','c');
