-- fails: 1062
-- ahead: behind, last
-- The only rows of a new table, which no record is with, are refused; with --force the rest goes on.
CREATE TABLE good (id INT NOT NULL PRIMARY KEY, amount INT) ENGINE=InnoDB;
INSERT INTO good VALUES (1, 2), (2, 3);
CREATE TABLE bad (id INT NOT NULL PRIMARY KEY, amount INT) ENGINE=InnoDB;
INSERT INTO bad VALUES (1, 2), (2, 3), (1, 4);
CREATE TABLE behind (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO behind VALUES (1, 2);
CREATE TABLE last (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO last VALUES (1), (2);
