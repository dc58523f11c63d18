-- stricter: a dump that ends within a comment is cut off
-- A comment that is never closed at the end of the file.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
/* open; SELECT 1;
