-- Triggers created after the rows, in mysqldump's form: they must not see the rows before them.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(60));
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (3, 'c');
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET sql_mode              = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER "log it" AFTER INSERT ON "t" FOR EACH ROW
BEGIN
  -- a comment; with a semicolon
  INSERT INTO "log" (what) VALUES (CONCAT('row\', NEW.id));
END */;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
INSERT INTO t VALUES (4, 'd'), (5, 'e');
INSERT INTO log VALUES (100, 'by hand');
INSERT INTO t VALUES (6, 'f');
