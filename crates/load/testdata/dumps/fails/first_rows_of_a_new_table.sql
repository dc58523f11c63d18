-- fails: 1062
-- The first rows of a new table fail; tables behind it have their definitions already, as the client does not.
-- ahead: u
CREATE TABLE t (id INT PRIMARY KEY, a INT) ENGINE=InnoDB;
INSERT INTO t VALUES (1,1),(2,2);
INSERT INTO t VALUES (3,3),(3,4);
INSERT INTO t VALUES (5,5);
CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO u VALUES (1);
