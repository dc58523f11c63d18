-- SETs in a row, with what text and questions behind them depend on: modes and character sets that change in the middle, other
-- delimiters and comments between them.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40) CHARACTER SET utf8mb4);
SET @a = 1; SET @b = @a + 1; SET @c = @b * 2
;
-- a comment
SET @d = 'a;b', @e = "c";
/*!50001 SET @f = @d */;
/*!50001 SET @g = @e */;
SET sql_mode = 'ANSI_QUOTES';
SET @h = 'x';
CREATE TABLE "u" ("id" INT);
SET @i = 'it''s \'quoted\'';
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
SET @j = 'a\';
SET @k = 'b\\';
SET sql_mode = '';
SET @l = 'c\\';
SET NAMES latin1;
SET @m = 'ä';
SET NAMES utf8mb4;
SET @n = 'ä';
INSERT INTO t VALUES (1, CONCAT(@a, @b, @c, @d, @e, @f, @g)), (2, CONCAT(@h, @i)), (3, CONCAT(@j, @k, @l)), (4, @m), (5, @n);
SET collation_connection = utf8mb4_bin;
SET @o = 'A';
SELECT COLLATION(@o), @o = 'a';
SET time_zone = '+05:00';
SET timestamp = 1000000;
SET time_zone = '+00:00';
INSERT INTO t VALUES (6, NOW());
SET timestamp = DEFAULT;
DELIMITER //
SET @p = 1;
SET @q = 2//
SET @r = 3//
DELIMITER ;
SET foreign_key_checks = 0;
SET @s = ROW_COUNT();
SET unique_checks = 0;
INSERT INTO t VALUES (7, CONCAT(@p, @q, @r, @s, @@foreign_key_checks, @@unique_checks));
SET last_insert_id = 9;
SET @t = @@last_insert_id;
SET autocommit = 0;
SET @u = @@autocommit;
SET autocommit = 1;
INSERT INTO t VALUES (8, CONCAT(@t, @u));
SET @v = 1;
SELECT @v, @@warning_count;
SET @w = 1;
SET @x = 2;
