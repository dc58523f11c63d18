-- fails: 1305
-- A definition takes away a savepoint before it, also where no table was used.
CREATE TABLE t (id INT PRIMARY KEY);
SET autocommit = 0;
SAVEPOINT a;
CREATE TABLE u (id INT PRIMARY KEY);
ROLLBACK TO a;
CREATE TABLE w (id INT PRIMARY KEY);
