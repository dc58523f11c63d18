-- Rows that IGNORE drops and that ON DUPLICATE KEY turns into updates still use up numbers.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, v VARCHAR(10));
INSERT IGNORE INTO t (u, v) VALUES (1, 'a'), (1, 'b'), (2, 'c');
INSERT IGNORE INTO t (u, v) VALUES (2, 'd'), (3, 'e');
INSERT INTO t (u, v) VALUES (3, 'f'), (4, 'g') ON DUPLICATE KEY UPDATE v = VALUES(v);
INSERT INTO t (u, v) VALUES (5, 'h');
REPLACE INTO t (u, v) VALUES (5, 'i'), (6, 'j');
INSERT INTO t (u, v) VALUES (7, 'k');
INSERT IGNORE INTO t VALUES (NULL, 7, 'l'), (100, 8, 'm'), (NULL, 9, 'n');
INSERT INTO t (u, v) VALUES (10, 'o');
