-- Generated columns, defaults that are expressions, invisible columns and a primary key that the server adds.
CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 3, b INT GENERATED ALWAYS AS (a * 2) STORED, c INT AS (b + 1) VIRTUAL, d VARCHAR(40) DEFAULT (CONCAT('x', 1 + 1)), e TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6), f JSON DEFAULT (JSON_ARRAY()), g BLOB DEFAULT ('blob'), h INT INVISIBLE DEFAULT 9);
INSERT INTO t (id, a) VALUES (1,5),(2,6),(3,7),(4,8),(5,9);
INSERT INTO t (id, a, b, c, d, e, f, g) VALUES (11,5,DEFAULT,DEFAULT,'d','2020-01-01',DEFAULT,DEFAULT),(12,DEFAULT,DEFAULT,DEFAULT,DEFAULT,'2020-01-01','{}','g'),(13,6,DEFAULT,DEFAULT,'d','2020-01-01','{}','g'),(14,6,DEFAULT,DEFAULT,'d','2020-01-01','{}','g');
INSERT INTO t VALUES (21,5,DEFAULT,DEFAULT,'d','2020-01-01','[]','g'),(22,5,DEFAULT,DEFAULT,'d','2020-01-01','[]','g'),(23,5,DEFAULT,DEFAULT,'d','2020-01-01','[]','g'),(24,5,DEFAULT,DEFAULT,'d','2020-01-01','[]','g');
INSERT INTO t (id, h, e) VALUES (31,1,'2020-01-01'),(32,2,'2020-01-01'),(33,3,'2020-01-01'),(34,4,'2020-01-01');
SELECT COUNT(*), COUNT(DISTINCT e) FROM t WHERE id < 10;
UPDATE t SET e = '2021-01-01' WHERE id < 10;
SET sql_generate_invisible_primary_key = ON;
CREATE TABLE keyless (v VARCHAR(9));
INSERT INTO keyless VALUES ('a'),('b'),('c'),('d'),('e');
INSERT INTO keyless VALUES ('f'),('g'),('h'),('i'),('j');
SELECT my_row_id, v FROM keyless;
