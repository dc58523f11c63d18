-- REPLACE: the last in the stream stays, also when it meets two rows by two keys.
CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(10));
REPLACE INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
REPLACE INTO t VALUES (1, 2, 'd');
REPLACE INTO t VALUES (4, 4, 'e'), (4, 3, 'f');
INSERT INTO t VALUES (5, 5, 'g'), (6, 6, 'h');
REPLACE INTO t (id, v) VALUES (5, 'i'), (5, 'j');
REPLACE LOW_PRIORITY t VALUES (6, 6, 'k');
REPLACE INTO t VALUES (7, NULL, 'l'), (8, NULL, 'm');
REPLACE INTO t SELECT id + 100, u + 100, v FROM t WHERE u IS NOT NULL;
