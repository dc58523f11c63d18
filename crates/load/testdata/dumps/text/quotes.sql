-- errors on mysql: \N as a value is MariaDB's
-- Quotes: doubled, escaped, adjacent, of the other kind, empty, with line ends, backslash before each character.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(400));
INSERT INTO t VALUES (1, 'it''s'), (2, "say ""x"""), (3, 'say "x"'), (4, "it's"), (5, ''''), (6, ''), (7, "");
INSERT INTO t VALUES (8, 'a' 'b'), (9, 'a'  "b" 'c'), (10, 'a'
'next line'), (11, 'a' /* comment */ 'b'), (12, 'x''' '''y');
INSERT INTO t VALUES (13, '\'quoted\''), (14, "\"quoted\""), (15, '\\'), (16, '\\\\\''), (17, 'ends\\');
INSERT INTO t VALUES (18, '\0\'\"\b\n\r\t\Z\\\%\_'), (19, '\a\c\d\e\f\g\h\i\j\k\l\m\o\p\q\s\u\v\w\x\y\z\N'), (20, '\A\B\C\D\(\)\;\,\ \
newline');
INSERT INTO t VALUES (21, 'a
b

c'), (22, '	tab'), (23, ';'), (24, '),('), (25, 'VALUES'), (26, '\');--');
INSERT INTO t VALUES (27, N'national'), (28, n'it''s'), (29, _utf8mb4'x' 'y'), (30, _latin1 'z'), (31, _utf8mb4"é" COLLATE utf8mb4_bin);
INSERT INTO t VALUES (32, 'NULL'), (33, NULL), (34, null), (35, Null), (36, \N), (37, 'null'), (38, "DEFAULT");
SET sql_mode='NO_BACKSLASH_ESCAPES';
INSERT INTO t VALUES (40, '\'), (41, 'a\'), (42, '\n'), (43, '''\'''), (44, "\"), (45, '\\');
INSERT INTO t VALUES (46, 'x\' 'y\');
SET sql_mode='';
INSERT INTO t VALUES (50, '\''), (51, '\\');
SET sql_mode='ANSI_QUOTES';
INSERT INTO "t" ("id", "v") VALUES (60, 'a"b'), (61, 'c''d');
INSERT INTO "t" VALUES (62, '"'), (63, 'x');
CREATE TABLE "ta""ble" ("c""ol" INT, `c``ol` INT);
INSERT INTO "ta""ble" ("c""ol") VALUES (1);
SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE';
INSERT INTO "t" VALUES (70, 'a\' || 'b'), (71, 'c' || "v"), (72, concat ('d', 'e'));
SET sql_mode=ORACLE;
INSERT INTO "t" VALUES (80, 'x' || NULL || 'y');
SET sql_mode=DEFAULT;
INSERT INTO t VALUES (90, 1 || 0), (91, "double");
