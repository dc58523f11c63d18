-- not on mysql: its client sends what is left of the comment
-- stricter: a dump that ends within a comment is cut off
-- A comment that is never closed at the end of the file.
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1);
/* open; SELECT 1;
