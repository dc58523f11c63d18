-- utf8mb4 everywhere: names, comments, defaults, rows, several collations.
CREATE TABLE `表 ②` (`ид` INT PRIMARY KEY COMMENT 'клавиша', `名` VARCHAR(50) DEFAULT '既定 😀', c CHAR(10) COLLATE utf8mb4_bin, t TEXT COLLATE utf8mb4_unicode_520_ci, UNIQUE KEY `ключ` (`名`)) DEFAULT CHARSET=utf8mb4 COMMENT='コメント 😀';
ALTER TABLE `表 ②` DROP KEY `ключ`;
INSERT INTO `表 ②` VALUES (1, '😀👍🏽👨‍👩‍👧', '𝄞', 'e\u0301 é ÿ'), (2, 'ไทย עברית العربية', '日本', '\\😀\n'), (3, DEFAULT, '', '''é''');
CREATE TABLE u (a VARCHAR(5) CHARACTER SET utf8mb3, b VARCHAR(5) CHARACTER SET ucs2, c VARCHAR(5) CHARACTER SET utf16, d VARCHAR(5) CHARACTER SET utf32, e VARCHAR(5) CHARACTER SET utf16le);
INSERT INTO u VALUES ('é日', 'é日', '😀', '😀', '😀'), ('', '\\', '''', '\0', '\n');
