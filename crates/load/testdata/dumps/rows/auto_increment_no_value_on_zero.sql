-- NO_AUTO_VALUE_ON_ZERO switched in mid-stream: 0 is a value, then a request.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10));
SET sql_mode='NO_AUTO_VALUE_ON_ZERO';
INSERT INTO t VALUES (0, 'zero'), (NULL, 'one');
INSERT INTO t VALUES (NULL, 'two'), (5, 'five');
SET sql_mode='';
INSERT INTO t VALUES (0, 'six'), (NULL, 'seven');
INSERT INTO t (v) VALUES ('eight');
