-- Session variables that are saved in user variables and given back, with and without changes in between. A charset or mode
-- decides how the next text is read.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(50)) DEFAULT CHARSET = utf8mb4;
SET @saved = @@character_set_client;
SET character_set_client = latin1;
SET character_set_client = @saved;
INSERT INTO t VALUES (1, 'ä');
SET @saved = @@character_set_client;
SET @saved = 'latin1';
SET character_set_client = @saved;
INSERT INTO t VALUES (2, 'ä');
SET character_set_client = utf8mb4;
SET @saved = @@character_set_client;
SET character_set_client = utf8mb4;
CREATE VIEW v AS SELECT 1 AS a;
SET character_set_client = @saved;
SET @mode = @@sql_mode;
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
SET @other = 'a\';
SET sql_mode = @mode;
SET @quoted = 'a\'b';
INSERT INTO t VALUES (3, CONCAT(@other, @quoted));
SET @mode = @@sql_mode;
SELECT 'NO_BACKSLASH_ESCAPES' INTO @mode;
SET sql_mode = @mode;
SET @x = 'b\';
SET sql_mode = '';
INSERT INTO t VALUES (4, @x);
SET @a = @@character_set_results;
SET character_set_results = latin1;
SET @b = @@character_set_results;
SET character_set_results = @a;
SELECT @a = @b, @@character_set_results = @a;
DELIMITER //
CREATE FUNCTION changes() RETURNS INT BEGIN SET @mode = 'ANSI_QUOTES'; RETURN 5; END//
DELIMITER ;
SET @mode = @@sql_mode;
SET sql_mode = '';
INSERT INTO t VALUES (changes(), 'c');
SET sql_mode = @mode;
SET @q = 'd';
CREATE TABLE "quoted" (a INT);
