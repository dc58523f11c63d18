-- errors on mysql: it lets no default read a user variable
-- The session is read deep inside of an expression, or by a function of which nobody would think so.
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(30) DEFAULT (CONCAT('<', IFNULL(@x, 'none'), '>')), b TEXT DEFAULT (CHARSET('a')), c TEXT DEFAULT (DAYNAME('2020-01-01')),
  d TEXT DEFAULT (FORMAT(1234567.891, 2)), e TEXT DEFAULT (1 / 3), f INT DEFAULT (WEEK('2020-01-05')), g DATETIME DEFAULT (FROM_UNIXTIME(1)), h BIGINT DEFAULT (UNIX_TIMESTAMP('2020-05-01 00:00:00')));
SET lc_time_names = 'de_DE', default_week_format = 3, time_zone = '+03:00', div_precision_increment = 7;
INSERT INTO t (id) VALUES (1), (2);
SET @x = 'set', lc_time_names = 'fr_FR', default_week_format = 0, time_zone = '-03:00', div_precision_increment = 2;
SET NAMES latin1;
INSERT INTO t (id) VALUES (3), (4);
INSERT INTO t (id) VALUES (5);
