-- Every type with the literals that a dump has, some bent without strict mode: warnings, which pieces never have.
CREATE TABLE numbers (id INT UNSIGNED PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT UNSIGNED, e DECIMAL(30,10), f FLOAT, g DOUBLE, h BIT(9), y YEAR, z INT ZEROFILL);
INSERT INTO numbers VALUES (1,-128,65535,-8388608,18446744073709551615,12345678901234567890.0123456789,1.1,1e300,b'101010101',1999,7),(2,127,0,8388607,0,-0.5,-0.1,-1.5e-300,511,2155,70000),(3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(4,0,1,2,9223372036854775808,1,2,3,0,0,0),(5,'5','6','7','8','9.5','1e2','0.25',5,'70','1');
INSERT INTO numbers VALUES (4294967295,1,1,1,1,0.00000000004,3.4028234e38,1.7976931348623157e308,1,1901,4294967295);
SET sql_mode = '';
INSERT INTO numbers VALUES (11,999,-1,99999999,-1,1e40,1e39,2,512,1900,-1),(12,'x','1y','','12abc','a','b','c','d','e','f'),(13,1,2,3,4,5,6,7,8,99,10),(14,1.5,2.5,3.5,4.5,5.55555555555,6.5,7.5,8,1999.4,9.5);
SET sql_mode = DEFAULT;
CREATE TABLE texts (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(10) CHARACTER SET latin1, t TEXT, e ENUM('a','b','é'), s SET('x','y','z'), n NCHAR(3), u VARCHAR(9) COLLATE utf8mb4_0900_as_cs);
INSERT INTO texts VALUES (1,'a  ','é','long','é','x,z','ñ','A'),(2,'','','',NULL,'','',''),(3,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(4,'\0\n\\','it''s','"q"','b','y','%_','\Z'),(5,5,6,7,2,5,8,9);
SET sql_mode = '';
INSERT INTO texts VALUES (11,'too long','日本','x','q','x,q','four','too long it is'),(12,'abcde ','1234567890 ','x',0,9,'abc','x'),(13,'ok','ok','x','a','x','abc','x'),(14,'ok','ok','x','a','x','abc','x');
SET sql_mode = DEFAULT;
CREATE TABLE bytes (id INT PRIMARY KEY, b BINARY(4), v VARBINARY(9), l LONGBLOB);
INSERT INTO bytes VALUES (1,0x00ff,x'','text'),(2,_binary 'ab',_binary '\0\'\\',0x00),(3,NULL,NULL,NULL),(4,'','',''),(5,0xffffffff,0x0a0d,_binary 'é');
SELECT id, HEX(b), HEX(v), HEX(l) FROM bytes;
