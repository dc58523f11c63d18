-- fails: 1146
-- For --force: rows that ask what a failed statement did are rows as any others, and a block that asks is run.
CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(120));
-- A new session's FOUND_ROWS() may still be that of one before it: the server uses its memory again.
SELECT 1 UNION SELECT 2;
INSERT INTO nowhere VALUES (1), (2);
INSERT INTO log (what) VALUES (CONCAT('found ', FOUND_ROWS()));
INSERT INTO nowhere VALUES (3) ON DUPLICATE KEY UPDATE n = 1;
INSERT INTO log (what) VALUES (CONCAT('errors ', @@error_count));
INSERT INTO nowhere VALUES (4) ON DUPLICATE KEY UPDATE n = 1;
DELIMITER //
CREATE PROCEDURE asks() BEGIN INSERT INTO log (what) VALUES (CONCAT('rows ', ROW_COUNT())); END//
DELIMITER ;
UPDATE nowhere SET n = 1;
CALL asks();
INSERT INTO nowhere VALUES (5) ON DUPLICATE KEY UPDATE n = 1;
SET @n = ROW_COUNT();
INSERT INTO log (what) VALUES (@n);
SELECT seq, what FROM log ORDER BY seq;
