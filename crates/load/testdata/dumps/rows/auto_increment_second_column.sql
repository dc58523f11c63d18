-- errors on mysql: the engine Aria is MariaDB's
-- MyISAM and Aria may number within a group: the counter is the second column of the key.
CREATE TABLE t (grp ENUM('fish','bird') NOT NULL, id INT NOT NULL AUTO_INCREMENT, v VARCHAR(10), PRIMARY KEY (grp, id)) ENGINE=MyISAM;
INSERT INTO t (grp, v) VALUES ('bird', 'a'), ('fish', 'b'), ('bird', 'c');
INSERT INTO t (grp, v) VALUES ('fish', 'd'), ('fish', 'e');
INSERT INTO t VALUES ('bird', NULL, 'f'), ('fish', 9, 'g'), ('fish', 0, 'h');
CREATE TABLE a LIKE t;
ALTER TABLE a ENGINE=Aria;
INSERT INTO a (grp, v) VALUES ('bird', 'a'), ('fish', 'b'), ('bird', 'c');
INSERT INTO a (grp, v) VALUES ('fish', 'd'), ('fish', 'e');
