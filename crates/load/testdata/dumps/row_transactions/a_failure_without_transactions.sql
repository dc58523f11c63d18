-- fails: 1062
-- A transaction of rows of a table that cannot roll back fails: what stands before the failure stays.
CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM;
SET autocommit = 0;
INSERT INTO m VALUES (1), (2);
INSERT INTO m VALUES (3);
INSERT INTO m VALUES (4), (1), (5);
INSERT INTO m VALUES (6);
COMMIT;
