-- Introducers: _charset'…', _charset"…", _charset x'…', with spaces, into text, binary and ENUM columns.
CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1, b VARBINARY(20), e ENUM('a','é') CHARACTER SET utf8mb4);
INSERT INTO t VALUES (1,_latin1 x'E9',_utf8mb4 x'C3A9',_latin1 x'E9',_latin1 x'E9'),(2,_latin1'abc',_LATIN1"abc",_latin1 'abc',_latin1 'a');
INSERT INTO t VALUES (3,_binary'abc',_binary x'E9',_binary"x",_binary'a'),(4,_utf8 'é',_utf8mb3'é',_utf8mb4 'é',_utf8mb4'é');
INSERT INTO t VALUES (5,_ucs2 x'00E9',_utf16 x'00E9',_utf32 x'000000E9',_ucs2 x'0061'),(6,_koi8r x'D0',_cp1251 x'41',_koi8r x'D0',NULL);
INSERT INTO t VALUES (7,_utf8mb4'a' 'é' "b",_latin1 0x41,_latin1 b'1000001',_ascii'a'),(8,_binary '',_latin1'',_utf8mb4"",NULL);
INSERT INTO t VALUES (9,_utf8mb4 'é' COLLATE utf8mb4_bin,'é' COLLATE utf8mb4_general_ci,_binary'\0\'\\',_utf8mb4/**/'é');
INSERT INTO t VALUES (10,CONVERT('é' USING latin1),CONVERT(_latin1 x'E9' USING utf8mb4),CAST('é' AS CHAR CHARACTER SET latin1),BINARY 'a');
