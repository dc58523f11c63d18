-- Views as mysqldump writes them: placeholders first, views on views, the real ones at the end.
DROP TABLE IF EXISTS `base`;
CREATE TABLE `base` (`id` int PRIMARY KEY, `v` varchar(10));
INSERT INTO `base` VALUES (1,'a'),(2,'b');
/*!50001 DROP VIEW IF EXISTS `above`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `above` AS SELECT
  1 AS `id`,
  1 AS `twice` */;
SET character_set_client = @saved_cs_client;
/*!50001 CREATE TABLE `below` (`id` tinyint NOT NULL, `twice` tinyint NOT NULL) ENGINE=MyISAM */;
DROP TABLE IF EXISTS `zoo`;
CREATE TABLE `zoo` (`id` int);
INSERT INTO `zoo` VALUES (7);
/*!50001 DROP TABLE IF EXISTS `below`*/;
/*!50001 DROP VIEW IF EXISTS `below`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `below` AS select `base`.`id` AS `id`,concat(`base`.`v`,`base`.`v`) AS `twice` from `base` */;
/*!50001 DROP VIEW IF EXISTS `above`*/;
/*!50001 CREATE ALGORITHM=MERGE */
/*!50013 DEFINER=`nobody`@`nowhere` SQL SECURITY INVOKER */
/*!50001 VIEW `above` AS select `below`.`id` AS `id`,`below`.`twice` AS `twice` from `below` where `below`.`id` > 1 */
/*!50002 WITH CASCADED CHECK OPTION */;
SELECT * FROM below ORDER BY id;
