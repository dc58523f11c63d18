-- cp932 with its backslash bytes and its own signs.
charset cp932
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) CHARACTER SET cp932, u VARCHAR(40) CHARACTER SET utf8mb4, e ENUM('表','ソ') CHARACTER SET cp932);
INSERT INTO t VALUES (1,'表','表','表'),(2,'①～','①','ソ');
INSERT INTO t VALUES (3,'\'表\\','纊',1);
