-- errors on mysql: it lets no default read a system variable
-- Defaults that read the checks which a load may set for its own.
CREATE TABLE t (id INT PRIMARY KEY, u INT DEFAULT (@@unique_checks), f INT DEFAULT (@@foreign_key_checks), c INT DEFAULT (@@check_constraint_checks));
INSERT INTO t (id) VALUES (1), (2);
SET unique_checks = 0;
INSERT INTO t (id) VALUES (3), (4);
SET unique_checks = 1, foreign_key_checks = 0;
INSERT INTO t (id) VALUES (5), (6);
SET foreign_key_checks = 1, check_constraint_checks = 0;
INSERT INTO t (id) VALUES (7), (8);
