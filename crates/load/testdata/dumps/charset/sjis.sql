-- sjis: letters whose second byte is a backslash, with the client told of the charset by its own command.
charset sjis
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) CHARACTER SET sjis, u VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(40));
INSERT INTO t VALUES (1,'表','表','表'),(2,'ソ能','ソ能','ソ能');
INSERT INTO t VALUES (3,'表\'','表\\','\n表'),(4,'ｱｲｳ','あ','a表''b');
CREATE TABLE `表` (id INT, `ソ` INT);
INSERT INTO `表` (`ソ`) VALUES (5);
INSERT INTO `表` VALUES (6,7);
INSERT INTO t VALUES (5,_sjis'表',_utf8mb4 x'E8A1A8',_binary'表\\');
charset utf8mb4
INSERT INTO t VALUES (6,'陦ｨ','陦ｨ','陦ｨ');
