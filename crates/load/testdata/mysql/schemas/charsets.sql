-- Character sets and collations of MySQL's own, in columns, tables and the schema.
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(50)) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs;
INSERT INTO a VALUES (1,'é😀日本'),(2,'E'),(3,'e '),(4,'\\''"\n');
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(50) CHARACTER SET sjis, w VARCHAR(50) CHARACTER SET gb18030, x VARCHAR(50) CHARACTER SET ucs2, y TEXT CHARACTER SET utf32 COLLATE utf32_bin);
INSERT INTO b VALUES (1,'表ソ能','中文\\','ab','日'),(2,'','','',''),(3,NULL,NULL,NULL,NULL);
CREATE TABLE c (id INT PRIMARY KEY, v CHAR(9) CHARACTER SET latin1, w VARCHAR(9) CHARACTER SET cp1251) CHARACTER SET utf8mb3;
INSERT INTO c VALUES (1,'ÿé','Я'),(2,'x','y');
