INSERT INTO t (v) VALUES ("delimited")//
INSERT INTO t (v) VALUES ("without end")