-- fails: 1072
-- ahead: u
-- A definition fails, and rows stand behind it.
CREATE TABLE s (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO s VALUES (1);
CREATE TABLE t (id INT, PRIMARY KEY (ids)) ENGINE=InnoDB;
INSERT INTO t VALUES (1),(2);
CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO u VALUES (1);
