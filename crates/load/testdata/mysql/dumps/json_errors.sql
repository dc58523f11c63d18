-- fails: 3140
-- What is no JSON is an error, bytes are too, and neither leaves anything of its statement.
CREATE TABLE t (id INT PRIMARY KEY, j JSON);
INSERT INTO t VALUES (1,'[1]'),(2,'2'),(3,'3'),(4,'4'),(5,'5');
INSERT INTO t VALUES (11,'[1]'),(12,'2'),(13,'{broken'),(14,'4'),(15,'5');
INSERT INTO t VALUES (21,_binary '[1]'),(22,_binary '2'),(23,'3'),(24,'4');
INSERT INTO t VALUES (31,x'5b5d'),(32,'2'),(33,'3'),(34,'4');
INSERT INTO t VALUES (41,'');
INSERT INTO t VALUES (51,1),(52,-5),(53,18446744073709551615),(54,3);
INSERT INTO t VALUES (61,1.5),(62,'1'),(63,'2'),(64,'3');
