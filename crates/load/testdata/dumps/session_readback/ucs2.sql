-- Connections with ucs2, utf16 and utf32 as their charset: what is read back is not in the client's charset.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), at TIMESTAMP NULL, c VARCHAR(40)) CHARACTER SET utf8mb4;
SET time_zone = '+05:00', @zone = '+01:00', @mode = 'ANSI_QUOTES';
INSERT INTO t VALUES (1, 'é', '2020-01-01 12:00:00', ''), (2, 'b', NULL, '');
SET character_set_connection = ucs2;
INSERT INTO t VALUES (3, 'é', '2020-01-01 12:00:00', CHARSET('a')), (4, 'b', NULL, COLLATION('a'));
INSERT INTO t VALUES (5, 'plain', '2020-01-01 12:00:00', 'plain');
SET collation_connection = utf8mb4_bin;
INSERT INTO t VALUES (6, 'plain', '2020-01-01 12:00:00', 'plain');
SET collation_connection = utf16_general_ci;
INSERT INTO t VALUES (7, 'plain', '2020-01-01 12:00:00', 'plain');
SET time_zone = @zone, sql_mode = @mode;
INSERT INTO t VALUES (8, 'plain', '2020-01-01 12:00:00', 'plain');
SET collation_connection = utf32_general_ci;
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(10) DEFAULT 'é');
INSERT INTO u (id) VALUES (1), (2);
SET NAMES utf8mb4;
INSERT INTO t VALUES (9, 'é', '2020-01-01 12:00:00', CHARSET('a'));
INSERT INTO u VALUES (3, 'é');
