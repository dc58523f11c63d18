-- Tables without any key: equal rows are as many as in the stream.
CREATE TABLE t (a INT, b VARCHAR(10));
INSERT INTO t VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
INSERT INTO t VALUES (1, 'x'), (2, 'y'), (NULL, NULL);
INSERT INTO t VALUES (2, 'y');
CREATE TABLE u (a INT, UNIQUE (a));
INSERT INTO u VALUES (NULL), (NULL), (1);
INSERT INTO u VALUES (NULL), (2);
