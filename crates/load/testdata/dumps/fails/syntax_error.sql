-- fails: 1064
-- A statement that the server cannot read, in the middle, over several lines.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);

INSERT INTO t
VALUES (3),
(4
(5);
INSERT INTO t VALUES (6);
