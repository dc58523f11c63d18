-- latin1 tables and names, written under SET NAMES latin1; letters of windows-1252; a routine with them.
SET NAMES latin1;
CREATE TABLE `té` (id INT PRIMARY KEY, `väl` VARCHAR(50) DEFAULT 'ü', e ENUM('é','ß'), UNIQUE (`väl`)) DEFAULT CHARSET=latin1 COMMENT='été';
INSERT INTO `té` VALUES (1,'€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ','é'),(2,' ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ',2),(3,DEFAULT,NULL),(4,'é\\\'é','ß');
CREATE FUNCTION `fé`() RETURNS VARCHAR(10) CHARACTER SET latin1 DETERMINISTIC RETURN 'éß';
CREATE VIEW `wé` AS SELECT `väl`, 'ü' AS `ü` FROM `té`;
CREATE TRIGGER `tré` BEFORE INSERT ON `té` FOR EACH ROW SET NEW.`väl` = CONCAT(NEW.`väl`, '');
