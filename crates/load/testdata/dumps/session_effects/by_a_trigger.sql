-- Triggers, and a procedure that a trigger calls, set session variables.
CREATE TABLE fires (id INT PRIMARY KEY);
CREATE TABLE t (id INT PRIMARY KEY, v TINYINT, at TIMESTAMP NULL);
CREATE TRIGGER zone AFTER INSERT ON fires FOR EACH ROW SET SESSION time_zone = '+05:00', timestamp = 86400;
CREATE PROCEDURE engine() SET SESSION default_storage_engine = MyISAM, timestamp = 172800;
CREATE TRIGGER calls AFTER DELETE ON fires FOR EACH ROW CALL engine();
INSERT INTO t VALUES (1, 1, '2020-01-01 12:00:00');
INSERT INTO fires VALUES (1);
INSERT INTO t VALUES (2, 99, '2020-01-01 12:00:00'), (3, 9, NOW());
DELETE FROM fires;
CREATE TABLE my (id INT PRIMARY KEY);
INSERT INTO t VALUES (4, 4, NOW());
