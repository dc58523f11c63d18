-- JSON columns: MySQL has a type of its own for them, which keeps no text and refuses what is none.
CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON NOT NULL, g VARCHAR(20) AS (j->>'$.a') VIRTUAL);
INSERT INTO t (id, j, k) VALUES (1,'{"b": 1, "a": "x", "a": "last"}','[]'),(2,NULL,'null'),(3,'"é😀\\n\\\\"','1.50'),(4,'{}','1e3'),(5,'[1, 2.0, {"x": [true, false, null]}]','"2020-01-01"'),(6,'0','-0.0');
INSERT INTO t (id, j, k) VALUES (13,JSON_OBJECT('a', 1),JSON_ARRAY(1, 'x')),(14,CAST('[1]' AS JSON),'3'),(15,JSON_ARRAY(TRUE),'4'),(16,JSON_QUOTE('q'),'5');
SELECT id, j, k, g, JSON_TYPE(j), JSON_TYPE(k) FROM t;
