-- Accounts are made and dropped while the dump has locked the server's own tables, or others.
-- errors on mysql: the table of accounts is another one there
CREATE TABLE t (id INT PRIMARY KEY);
LOCK TABLES t WRITE;
INSERT INTO t VALUES (1);
UNLOCK TABLES;
DROP USER IF EXISTS 'hc_l'@'localhost';
LOCK TABLES mysql.global_priv WRITE, mysql.db WRITE, t WRITE;
INSERT INTO t VALUES (2);
UNLOCK TABLES;
CREATE USER 'hc_l'@'localhost';
LOCK TABLES mysql.global_priv READ, t WRITE;
INSERT INTO t SELECT COUNT(*) + 10 FROM mysql.global_priv WHERE User = 'hc_l';
UNLOCK TABLES;
DROP USER 'hc_l'@'localhost';
INSERT INTO t VALUES (20);
