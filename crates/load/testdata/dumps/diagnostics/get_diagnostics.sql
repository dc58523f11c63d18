-- GET DIAGNOSTICS behind rows with warnings, behind a definition that was there, and behind a SET.
CREATE TABLE t (id INT PRIMARY KEY, n TINYINT);
CREATE TABLE log (n BIGINT, m TEXT);
SET sql_mode = '';
INSERT INTO t VALUES (1, 999), (2, 'x');
GET DIAGNOSTICS @rows = ROW_COUNT, @count = NUMBER;
INSERT INTO log VALUES (@rows, @count);
INSERT INTO t VALUES (3, 999);
GET DIAGNOSTICS CONDITION 1 @message = MESSAGE_TEXT, @code = MYSQL_ERRNO;
INSERT INTO log VALUES (@code, @message);
CREATE TABLE IF NOT EXISTS t (id INT);
GET DIAGNOSTICS CONDITION 1 @message = MESSAGE_TEXT, @code = MYSQL_ERRNO;
INSERT INTO log VALUES (@code, @message);
SET @unused = 1;
GET DIAGNOSTICS @rows = ROW_COUNT, @count = NUMBER;
INSERT INTO log VALUES (@rows, @count);
