-- LOAD DATA LOCAL INFILE in the stream: the file is read by the client, from the folder it runs in.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (10, 'before');
LOAD DATA LOCAL INFILE 'three_rows.txt' INTO TABLE t;
INSERT INTO t VALUES (11, 'after');
