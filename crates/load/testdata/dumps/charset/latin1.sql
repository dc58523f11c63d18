-- A latin1 dump: SET NAMES latin1 and bytes that are no UTF-8, into columns of several charsets.
SET NAMES latin1;
CREATE TABLE t (id INT PRIMARY KEY, l VARCHAR(40) CHARACTER SET latin1, u VARCHAR(40) CHARACTER SET utf8mb4, b VARBINARY(40), w VARCHAR(40) CHARACTER SET ucs2, e ENUM('é','ü') CHARACTER SET latin1) COMMENT='été';
INSERT INTO t VALUES (1,'é ü ß ÿ ¥','é ü ß ÿ ¥','é ü ß ÿ ¥','é ü ß ÿ ¥','é'),(2,'€‘Ÿ','€‘Ÿ','€‘Ÿ','€','ü');
INSERT INTO t VALUES (3,'a\\é\'','\é','é\\','é''',2);
CREATE TABLE `té` (`côté` INT);
INSERT INTO `té` (`côté`) VALUES (1),(2);
INSERT INTO `té` VALUES (3);
INSERT INTO t VALUES (4,_utf8mb4'Ã©',_utf8mb4'ðŸ˜€',_utf8mb4'Ã©',_latin1'é',NULL),(5,_binary'é',N'Ã©',_binary'é',NULL,NULL);
