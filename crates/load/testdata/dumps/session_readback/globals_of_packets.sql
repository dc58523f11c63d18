-- max_allowed_packet and net_buffer_length are read-only in a session: SET GLOBAL of them is for the server alone.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
SET GLOBAL max_allowed_packet = 33554432;
INSERT INTO t VALUES (3, 3), (4, 4);
SET @@GLOBAL.net_buffer_length = 32768;
INSERT INTO t VALUES (5, 5), (6, 6);
SET @@global.max_allowed_packet = 16777216, GLOBAL net_buffer_length = 16384;
INSERT INTO t VALUES (7, 7), (8, 8);
