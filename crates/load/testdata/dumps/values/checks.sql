-- errors on mysql: check_constraint_checks is MariaDB's
-- CHECK constraints on columns and tables, named and not, switched off by the session for some rows.
CREATE TABLE t (id INT PRIMARY KEY, a INT CHECK (a > 0), b INT, c VARCHAR(10) CHECK (c <> 'bad'), CONSTRAINT a_below_b CHECK (a < b));
INSERT INTO t VALUES (1, 1, 2, 'good'), (2, NULL, NULL, NULL);
INSERT IGNORE INTO t VALUES (3, -1, 2, 'x'), (4, 5, 6, 'y'), (5, 9, 8, 'z'), (6, 1, 2, 'bad');
SET check_constraint_checks=OFF;
INSERT INTO t VALUES (7, -1, -2, 'bad'), (8, 0, 0, 'bad');
SET check_constraint_checks=ON;
INSERT INTO t VALUES (9, 1, 2, 'BADDER');
ALTER TABLE t DROP CONSTRAINT a_below_b;
INSERT INTO t VALUES (10, 9, 8, 'z');
