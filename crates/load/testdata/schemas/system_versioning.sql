-- System-versioned tables with their history, partitioned by it, application-time periods.
SET time_zone='+00:00', timestamp=1500000000;
CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(10)) WITH SYSTEM VERSIONING;
CREATE TABLE explicit (id INT PRIMARY KEY, v INT, a TIMESTAMP(6) GENERATED ALWAYS AS ROW START, b TIMESTAMP(6) GENERATED ALWAYS AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME(a, b)) WITH SYSTEM VERSIONING;
CREATE TABLE some_columns (id INT PRIMARY KEY, kept INT, free INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING;
INSERT INTO plain VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO explicit (id, v) VALUES (1, 1), (2, 2);
INSERT INTO some_columns VALUES (1, 1, 1), (2, 2, 2);
SET timestamp=1600000000.25;
UPDATE plain SET v = 'bb' WHERE id = 2;
DELETE FROM plain WHERE id = 3;
UPDATE explicit SET v = 20 WHERE id = 2;
UPDATE some_columns SET free = 9;
UPDATE some_columns SET kept = 9 WHERE id = 2;
CREATE TABLE period (id INT, f DATE, t DATE, PERIOD FOR app(f, t), UNIQUE (id, app WITHOUT OVERLAPS));
INSERT INTO period VALUES (1, '2020-01-01', '2020-06-01'), (1, '2020-06-01', '2021-01-01');
