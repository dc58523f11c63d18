-- ENUM and SET: empty members, quotes, commas, other charsets, the error value, numbers as names.
CREATE TABLE t (id INT PRIMARY KEY, e ENUM('a','b','','it''s','c,d','1','2'), s SET('x','y','it''s','3') NOT NULL DEFAULT 'x,y', u ENUM('é','日','b\\s') CHARACTER SET utf8mb4, l SET('ä','ö') CHARACTER SET latin1);
INSERT INTO t VALUES (1, 'a', 'x', 'é', 'ä'), (2, '', '', '日', 'ä,ö'), (3, 'it''s', 'it''s,y,x', 'b\\s', ''), (4, 'c,d', '3', NULL, NULL), (5, '2', 3, 2, 2), (6, 2, 8, 1, 1), (7, NULL, DEFAULT, NULL, NULL);
SET sql_mode='';
INSERT INTO t VALUES (8, 'none', 'none,x', 'x', 'x'), (9, 99, 99, 99, 99);
