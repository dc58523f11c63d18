SET sql_mode='NO_BACKSLASH_ESCAPES';
INSERT INTO t (v) VALUES ('state\');
DELIMITER //
INSERT INTO t (v) VALUES ('under //')//
