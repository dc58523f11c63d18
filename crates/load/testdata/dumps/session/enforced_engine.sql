-- errors on mysql: enforce_storage_engine is MariaDB's
-- An engine that the session enforces, and then none again: NULL, which the server reports as an empty text.
SET sql_mode = '';
SET SESSION enforce_storage_engine = 'Aria';
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT) ENGINE=InnoDB;
INSERT INTO t (a) VALUES (1), (2);
SET SESSION enforce_storage_engine = NULL;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';
CREATE TABLE u (id INT PRIMARY KEY) ENGINE=MEMORY;
CREATE TABLE w (id INT PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO w VALUES (1), (2);
