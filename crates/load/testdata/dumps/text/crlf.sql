-- CRLF line ends, also within a string, which the client turns into a bare line feed.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(60));
INSERT INTO t VALUES (1, 'a'),
(2, 'two
lines'),(3, 'cronly');
DELIMITER $$
INSERT INTO t VALUES (4, 'd')$$
DELIMITER ;
use hortator_case
INSERT INTO t VALUES (5, 'escaped\r\n'), (6, 'e
');
# comment; with '
INSERT INTO t VALUES (7, 'f') -- comment
;
INSERT INTO t VALUES (8, '

'), (9, 'end'), (10, '\r
');
