-- Accounts, roles and rights in mid-stream.
CREATE USER 'hortator_reader'@'localhost' IDENTIFIED BY 'se;cret';
CREATE ROLE hortator_role;
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
GRANT SELECT ON hortator_case.* TO 'hortator_reader'@'localhost';
GRANT INSERT (id) ON t TO hortator_role;
GRANT hortator_role TO hortator_reader@localhost;
FLUSH PRIVILEGES;
INSERT INTO t VALUES (3);
REVOKE SELECT ON hortator_case.* FROM 'hortator_reader'@'localhost';
DROP ROLE hortator_role;
DROP USER 'hortator_reader'@'localhost';
