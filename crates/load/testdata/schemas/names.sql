-- Names that need quoting, and names that differ in case only.
CREATE TABLE `back``tick;` (`a``b` INT PRIMARY KEY, `c;d` INT, `e*/f` VARCHAR(10), `-- g` INT, `h i` INT, `select` INT, `'q"` INT);
INSERT INTO `back``tick;` VALUES (1, 2, '*/', 4, 5, 6, 7), (2, NULL, '/*', 4, 5, 6, 7);
CREATE TABLE `t` (id INT);
CREATE TABLE `T` (id INT, x INT);
INSERT INTO t VALUES (1), (2);
INSERT INTO T VALUES (1, 1);
CREATE TABLE `new
line` (`x
y` INT);
INSERT INTO `new
line` VALUES (1);
CREATE TABLE `INSERT INTO x VALUES (1);` (`VALUES` INT, `) VALUES (` INT);
INSERT INTO `INSERT INTO x VALUES (1);` VALUES (1, 2), (3, 4);
CREATE TABLE `a.b` (`c.d` INT, KEY `k;` (`c.d`));
INSERT INTO `a.b` VALUES (5);
