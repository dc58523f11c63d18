-- fails: 1064
-- Lists of values that are not: missing and spare commas and brackets, two values side by side, something behind.
CREATE TABLE t (id INT, v VARCHAR(20));
INSERT INTO t VALUES (1, 'a');
INSERT INTO t VALUES (2, 'b') (3, 'c');
INSERT INTO t VALUES (4, 'd',);
INSERT INTO t VALUES (5, 'e'),;
INSERT INTO t VALUES (6 'f');
INSERT INTO t VALUES (7, 'g' 8);
INSERT INTO t VALUES (, 'h');
INSERT INTO t VALUES ((9, 'i'));
INSERT INTO t VALUES (10, 'j';
INSERT INTO t VALUES 11, 'k';
INSERT INTO t VALUES;
INSERT INTO t VALUES (12, 'l') WHERE 1;
INSERT INTO t (id v) VALUES (13, 'm');
INSERT INTO t (id, v,) VALUES (14, 'n');
INSERT INTO t VALUES (15, 'o'))
;
INSERT INTO t VALUES (16, 'p'), (17, 'q'); 
INSERT INTO t VALUES [18, 'r'];
INSERT INTO t (id, v) (19, 's');
INSERT INTO t VALUES (20, 'x')) , (21, 'y');
INSERT INTO t SET id = 22, v;
INSERT t INTO VALUES (23, 'z');
INSERT INTO t VALUES (24, 'ok');
