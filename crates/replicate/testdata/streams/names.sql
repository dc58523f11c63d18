CREATE TABLE `a``b.c d` (`select` INT PRIMARY KEY, `ä` INT) ENGINE=InnoDB
INSERT INTO `a``b.c d` VALUES (1, 1)
UPDATE `a``b.c d` SET `ä` = 2
CREATE TABLE `日本語` (id INT PRIMARY KEY) ENGINE=InnoDB
INSERT INTO `日本語` VALUES (1)
CREATE TABLE Upper (id INT PRIMARY KEY) ENGINE=InnoDB
CREATE TABLE upper (id INT PRIMARY KEY) ENGINE=InnoDB
INSERT INTO Upper VALUES (1)
INSERT INTO upper VALUES (2)
CREATE TABLE abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl (id INT)
INSERT INTO abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl VALUES (1)
ALTER TABLE `日本語` RENAME `x'y"z`
INSERT INTO `x'y"z` VALUES (2)
CREATE DATABASE `{d} ä'"`
CREATE TABLE `{d} ä'"`.t (id INT PRIMARY KEY)
INSERT INTO `{d} ä'"`.t VALUES (1)
ALTER DATABASE `{d} ä'"` CHARACTER SET utf8mb4 COMMENT 'c'
DROP DATABASE `{d} ä'"`
DROP TABLE `a``b.c d`
