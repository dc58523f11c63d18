-- utf8mb4: emoji, combining marks, right to left, letters of four bytes in names and comments; cut at a character's end.
SET NAMES utf8mb4;
CREATE TABLE `表` (id INT PRIMARY KEY, `名前` VARCHAR(10) CHARACTER SET utf8mb4, m3 VARCHAR(10) CHARACTER SET utf8mb3, u2 VARCHAR(10) CHARACTER SET ucs2, u16 VARCHAR(10) CHARACTER SET utf16, l VARCHAR(10) CHARACTER SET latin1) COMMENT='コメント';
INSERT INTO `表` VALUES (1,'😀👍🏽','é','é','😀','é'),(2,'é','日本','日本','日本','ÿ'),(3,'שלום','مرحبا','ไทย','𝄞','€');
SET sql_mode='';
INSERT INTO `表` VALUES (4,'😀😀😀😀😀😀😀😀😀😀😀','😀','😀','𝄞𝄞𝄞𝄞𝄞𝄞𝄞𝄞𝄞𝄞𝄞','日');
INSERT INTO `表` (`名前`, id) VALUES ('\😀', 5), ('a\
😀', 6);
INSERT INTO `表` VALUES (7,_utf8mb4'😀' COLLATE utf8mb4_unicode_ci,_utf8mb3'é',_ucs2 x'65E5',_utf16 x'D834DD1E',_latin1'\é');
