-- A comment that is never closed at the end of the file.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
/* open; SELECT 1;
