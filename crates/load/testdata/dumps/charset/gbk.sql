-- gbk: letters that end in a backslash byte, next to quotes and escapes.
charset gbk
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) CHARACTER SET gbk, u VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(40));
INSERT INTO t VALUES (1,'Å\','Å\','Å\'),(2,'÷–Œƒ','÷–\'','÷–');
INSERT INTO t VALUES (3,'ø\','ø\','ø\'),(4,'ø\\\','ø\\'','x');
SET NAMES utf8mb4;
charset utf8mb4
INSERT INTO t VALUES (5,'‰∏≠','‰∏≠','‰∏≠');
