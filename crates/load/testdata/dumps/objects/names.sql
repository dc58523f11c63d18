-- Names: backticks, newlines, semicolons, comment signs, spaces, other scripts, reserved words, case only.
CREATE TABLE `back``tick` (`a``b` INT PRIMARY KEY, `c;d` INT, `e*/f` INT, `/*g` INT, `-- h` INT, `#i` INT, `'j` INT, `"k` INT, ` l` INT, `m
n` INT, `o\p` INT, `表` INT, `select` INT);
INSERT INTO `back``tick` VALUES (1,2,3,4,5,6,7,8,9,10,11,12,13);
INSERT INTO `back``tick` (`a``b`,`c;d`,`e*/f`,`/*g`,`-- h`,`#i`,`'j`,`"k`,` l`,`m
n`,`o\p`,`表`,`select`) VALUES (2,2,3,4,5,6,7,8,9,10,11,12,13),(3,2,3,4,5,6,7,8,9,10,11,12,13);
CREATE TABLE `new
line;` (id INT PRIMARY KEY);
INSERT INTO `new
line;` VALUES (1),(2);
CREATE TABLE `t` (id INT PRIMARY KEY);
CREATE TABLE `T` (ID INT PRIMARY KEY, other INT);
INSERT INTO t VALUES (1),(2);
INSERT INTO T VALUES (1,1),(2,2);
INSERT INTO T (Id, OTHER) VALUES (3,3);
INSERT INTO `t` (ID) VALUES (3);
CREATE TABLE `order` (`key` INT, `values` INT, `default` INT DEFAULT 4);
INSERT INTO `order` (`key`,`values`) VALUES (1,2);
INSERT INTO `order` VALUES (3,`key`,`default`),(1,1,DEFAULT(`default`));
CREATE TABLE `a.b` (`c.d` INT);
INSERT INTO `a.b` VALUES (1);
INSERT INTO `hortator_case`.`a.b` (`a.b`.`c.d`) VALUES (2);
CREATE TABLE 1st (2nd INT, $x INT, _y INT);
INSERT INTO 1st VALUES (1,2,3);
CREATE TABLE `übung` (`größe` INT);
INSERT INTO übung (größe) VALUES (5);
CREATE TABLE `*/ DROP TABLE t; /*` (id INT);
INSERT INTO `*/ DROP TABLE t; /*` VALUES (1);
CREATE TABLE value (value INT, `offset` INT, status INT);
INSERT INTO `value` VALUE (1,2,3);
INSERT INTO `value` (value) VALUES (value + 1);
CREATE DATABASE `data``base; drop`;
CREATE TABLE `data``base; drop`.`t ``;` (id INT);
INSERT INTO `data``base; drop`.`t ``;` VALUES (1),(2);
