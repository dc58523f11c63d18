-- errors on mysql: system versioning is MariaDB's
-- System versioning: SET TIMESTAMP fixes the row ends; history by UPDATE and DELETE, and inserted history.
SET time_zone='+00:00';
SET timestamp=1500000000;
CREATE TABLE plain (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING;
CREATE TABLE named (id INT PRIMARY KEY, v INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME(s, e)) WITH SYSTEM VERSIONING;
INSERT INTO plain VALUES (1, 10), (2, 20);
INSERT INTO named (id, v) VALUES (1, 10), (2, 20);
SET timestamp=1500000100;
UPDATE plain SET v = v + 1;
UPDATE named SET v = v + 1 WHERE id = 1;
INSERT INTO plain VALUES (3, 30), (4, 40);
SET timestamp=1500000200;
DELETE FROM plain WHERE id = 2;
DELETE FROM named WHERE id = 2;
INSERT INTO named VALUES (3, 30, DEFAULT, DEFAULT);
SET @@system_versioning_insert_history=1;
INSERT INTO named VALUES (9, 90, '2001-01-01 00:00:00.5', '2002-01-01 00:00:00.25'), (9, 91, '2002-01-01 00:00:00.25', '2038-01-19 03:14:07.999999');
INSERT INTO plain (id, v, row_start, row_end) VALUES (8, 80, '2001-01-01', '2002-01-01');
SET @@system_versioning_insert_history=0;
SET @@system_versioning_alter_history=KEEP;
ALTER TABLE plain ADD COLUMN w INT DEFAULT 7;
SELECT id, v, s, e FROM named FOR SYSTEM_TIME ALL ORDER BY id, s;
SELECT id, v, w, row_start, row_end FROM plain FOR SYSTEM_TIME ALL ORDER BY id, row_start, row_end;
CREATE TABLE leases (id INT, a DATE, b DATE, PERIOD FOR term(a, b), UNIQUE (id, term WITHOUT OVERLAPS));
INSERT INTO leases VALUES (1, '2020-01-01', '2020-02-01'), (1, '2020-02-01', '2020-03-01');
DELETE FROM leases FOR PORTION OF term FROM '2020-01-10' TO '2020-02-10';
INSERT INTO leases VALUES (1, '2020-01-10', '2020-02-10');
SET timestamp=DEFAULT;
