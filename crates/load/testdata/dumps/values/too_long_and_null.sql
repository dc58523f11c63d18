-- Too long values, NULL in NOT NULL, missing columns without default: bent in permissive mode, by rows after the first.
SET sql_mode='', time_zone='+00:00', timestamp=1500000000;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5) NOT NULL, c CHAR(3) NOT NULL, b VARBINARY(4) NOT NULL, x TINYTEXT NOT NULL, n INT NOT NULL, d DATE NOT NULL, e ENUM('p','q') NOT NULL, ts TIMESTAMP NOT NULL, f CHAR(3));
INSERT INTO t VALUES (1, 'much too long', 'abcdef', 'abcdef', REPEAT('x', 300), 1, '2020-01-01', 'p', '2020-01-01', 'abcd');
INSERT INTO t VALUES (2, 'trailing   ', 'a     ', 'ab     ', 'x', 1, '2020-01-01', 'p', '2020-01-01', 'a   '), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO t VALUES (4, 'éééééé', 'éééé', 'ééé', 'é', 'é', 'é', 'é', 'é', 'éééé'), (5, 123456789, 12345, 123456, 1, '1', 20200101, 1, 20200101, 12345);
INSERT INTO t (id) VALUES (6), (7);
INSERT INTO t (id, v) VALUES (8, DEFAULT), (9, 'x');
INSERT INTO t (v, id) VALUES ('😀😀😀😀😀😀', 10), ('ok', 11);
