-- DELIMITER in its spellings, with strings and comments that hold it, several statements on a line.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(60)); INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b');
DELIMITER $$
INSERT INTO t VALUES (3, 'c;c'); $$
INSERT INTO t VALUES (4, '$$') $$ INSERT INTO t VALUES (5, "$$")$$
delimiter //
INSERT INTO t VALUES (6, 'd')//
INSERT INTO t VALUES (7, 1/2)//
INSERT INTO t VALUES (8, 'e') /* // in a comment */ //
Delimiter end_here
INSERT INTO t VALUES (9, 'f') end_here INSERT INTO t VALUES (10, 'g') end_here
DELIMITER ;;
INSERT INTO t VALUES (11, 'h');;
INSERT INTO t VALUES (12, 'i') ;; INSERT INTO t VALUES (13, 'j');;
DELIMITER '|'
INSERT INTO t VALUES (14, 'k')|
   DELIMITER ;
INSERT INTO t VALUES (15, 'l');
\d !
INSERT INTO t VALUES (16, 'm')!
INSERT INTO t VALUES (17, 'n')\g
delimiter ;
INSERT INTO t VALUES (18, 'o')\G
INSERT INTO t VALUES (19, 'p')\g INSERT INTO t VALUES (20, 'q');
SELECT COUNT(*) FROM t;
