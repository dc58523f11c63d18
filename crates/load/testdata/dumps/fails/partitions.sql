-- fails: 1526
-- Rows for which there is no partition, and rows outside of the partition that is named.
CREATE TABLE t (id INT PRIMARY KEY, v INT) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (20));
INSERT INTO t VALUES (1, 1), (11, 1);
INSERT INTO t VALUES (2, 1), (25, 1), (3, 1);
INSERT INTO t VALUES (4, 1);
INSERT INTO t PARTITION (a) VALUES (5, 1), (15, 1);
INSERT INTO t PARTITION (c) VALUES (6, 1);
INSERT INTO t VALUES (7, 1);
