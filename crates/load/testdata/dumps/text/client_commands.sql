-- The client's own commands in mid-stream: \u, use, charset, \C, \c, \g, \G, nowarning; a bare go line belongs to the statement.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE DATABASE other;
\u other
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'other');
USE hortator_case
charset utf8mb4
INSERT INTO t VALUES (1, 'é');
\C latin1
INSERT INTO t VALUES (2, 'é');
charset utf8mb4;
INSERT INTO t VALUES (3, 'é')
go
INSERT INTO t VALUES (4, 'cleared')\c
INSERT INTO t VALUES (5, 'kept');
SELECT id FROM t WHERE id = 1;
nowarning
INSERT INTO t VALUES (60, 'x')\g
SELECT id FROM t WHERE id = 60\G
INSERT INTO t VALUES (6, 'f');
uSe `other`;
INSERT INTO t VALUES (2, 'other');
use hortator_case;INSERT INTO t VALUES (7, 'g');
INSERT INTO t VALUES (8, 'h');
