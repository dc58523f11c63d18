-- sjis and other charsets of two bytes, some of which end in a backslash.
CREATE TABLE `表` (id INT PRIMARY KEY, s VARCHAR(50) CHARACTER SET sjis, c TEXT CHARACTER SET cp932, g VARCHAR(50) CHARACTER SET gbk, b VARCHAR(50) CHARACTER SET big5, j VARCHAR(50) CHARACTER SET ujis, k VARCHAR(50) CHARACTER SET euckr, e ENUM('表','ソ') CHARACTER SET sjis) COMMENT='表';
INSERT INTO `表` VALUES (1,'表ソ能','表ソ能①','中文','功許','日本','한국','表'),(2,'表\'','\\表','中\n','功''','表\0','','ソ'),(3,NULL,'','縗','蓋',NULL,'가',NULL);
