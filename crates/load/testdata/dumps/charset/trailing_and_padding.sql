-- errors on mysql: its collations without padding are MariaDB's
-- Trailing spaces, padding collations, case and accents in unique keys: what is a duplicate is the collation's say.
CREATE TABLE a (v VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, n INT);
INSERT IGNORE INTO a VALUES ('x', 1), ('X', 2), ('x ', 3), ('é', 4), ('e', 5), ('ß', 6), ('s', 7), ('ss', 8);
INSERT IGNORE INTO a VALUES ('E', 9), ('y', 10);
CREATE TABLE b (v VARCHAR(10) COLLATE utf8mb4_nopad_bin PRIMARY KEY, n INT);
INSERT IGNORE INTO b VALUES ('x', 1), ('X', 2), ('x ', 3), ('x', 4);
REPLACE INTO b VALUES ('x ', 5), ('X', 6);
CREATE TABLE c (v CHAR(5) CHARACTER SET latin1 COLLATE latin1_german2_ci PRIMARY KEY, n INT);
INSERT INTO c VALUES ('ä', 1), ('x', 2) ON DUPLICATE KEY UPDATE n = n + 10;
INSERT INTO c VALUES ('AE', 1), ('X', 2) ON DUPLICATE KEY UPDATE n = n + 10;
CREATE TABLE d (v BINARY(3) PRIMARY KEY, w BLOB, UNIQUE (w));
INSERT INTO d VALUES ('a', 'a'), ('a ', 'a '), ('A', 'A');
INSERT IGNORE INTO d VALUES ('a\0\0', 'new'), ('new', 'a');
