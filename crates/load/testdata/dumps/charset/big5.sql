-- big5: letters that end in a backslash or a bar.
charset big5
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) CHARACTER SET big5, u VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(40));
INSERT INTO t VALUES (1,'功','功','功'),(2,'許蓋','許\'','帆');
INSERT INTO t VALUES (3,'中文','中','中');
