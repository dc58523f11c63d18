-- Implicit AUTO_INCREMENT in each of its spellings: NULL, 0, DEFAULT, the column left out, mixed with explicit ids.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t (v) VALUES ('a'), ('b'), ('c');
INSERT INTO t VALUES (NULL, 'd'), (NULL, 'e');
INSERT INTO t VALUES (0, 'f'), ('0', 'g');
INSERT INTO t VALUES (DEFAULT, 'h'), (DEFAULT, 'i');
INSERT INTO t VALUES (NULL, 'j'), (20, 'k'), (NULL, 'l'), (15, 'm'), (0, 'n');
INSERT INTO t (v, id) VALUES ('o', NULL), ('p', 40);
INSERT INTO t (v) VALUES ('q');
INSERT INTO t VALUES (-5, 'r'), (NULL, 's');
INSERT INTO t () VALUES (), ();
INSERT INTO t SET v = 't';
INSERT INTO t (v) VALUES ('u'), ('v');
