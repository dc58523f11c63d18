-- fails: 1062
-- Each statement for a new table with partitions fills another partition.
SET foreign_key_checks = 0;
CREATE TABLE parts (id INT, v INT, PRIMARY KEY (id)) PARTITION BY RANGE (id)
  (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO parts VALUES (1, 1);
INSERT INTO parts VALUES (21, 1), (21, 2);
