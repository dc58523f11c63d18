-- Warnings of SETs that change several variables at once: MySQL has some, and forgets them at the next SET.
SET NAMES utf8;
SHOW WARNINGS;
SET NAMES utf8mb3;
SELECT @@warning_count;
CREATE TABLE IF NOT EXISTS t (a INT);
SET character_set_connection=latin1;
CREATE TABLE IF NOT EXISTS t (a INT);
SHOW WARNINGS;
