-- A byte order mark in front of the first statement, and one within a string.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, "﻿bom");
