-- Bytes that are no UTF-8 in a utf8mb4 stream: into binary columns as they are, into text an error or bent.
SET NAMES utf8mb4;
CREATE TABLE t (id INT PRIMARY KEY, b BLOB, v VARBINARY(20), u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1);
INSERT INTO t VALUES (1,'ÿþ','€','a','b'),(2,_binary'ÿþÃ','Ã(','a','b');
SET sql_mode='';
INSERT INTO t VALUES (3,'été','í €','aÿb','é'),(4,'ðŸ˜','õ€','ðŸ˜','Ã');
INSERT INTO t VALUES (5,'x','y',_binary'ÿ',_latin1'é'),(6,'x','y',_latin1'é','z');
INSERT INTO t (id, b) VALUES (7,'ÿ\'ÿ'),(8,'Ã''');
