-- Routines, events and their session settings in mysqldump's form, under other charsets and sql modes.
CREATE TABLE t (v VARCHAR(50));
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = latin1 */ ;
/*!50003 SET character_set_results = latin1 */ ;
/*!50003 SET collation_connection  = latin1_swedish_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'PIPES_AS_CONCAT' */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` FUNCTION `joined`() RETURNS varchar(10) CHARSET latin1 COLLATE latin1_swedish_ci
    DETERMINISTIC
RETURN 'a' || 'b' ;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;
INSERT INTO t VALUES (joined()), (1 || 0);
/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;
/*!50106 DROP EVENT IF EXISTS `nightly` */;
DELIMITER ;;
/*!50003 SET @saved_time_zone      = @@time_zone */ ;;
/*!50003 SET time_zone             = '+02:00' */ ;;
/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `nightly` ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'at night' DO BEGIN DELETE FROM t WHERE v = ';'; INSERT INTO t VALUES ('x'); END */ ;;
/*!50003 SET time_zone             = @saved_time_zone */ ;;
DELIMITER ;
/*!50106 SET TIME_ZONE= @save_time_zone */ ;
CREATE EVENT once ON SCHEDULE AT '2037-05-05 05:05:05' DO SET @x = 1;
ALTER EVENT once DISABLE COMMENT 'changed';
