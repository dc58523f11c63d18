-- errors on mysql: the types UUID and INET6 are MariaDB's
-- fails: 1264
-- Values that strict mode refuses, one kind a statement: with --force each is an error of its own.
SET time_zone='+00:00';
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n TINYINT, u INT UNSIGNED, v VARCHAR(3), d DATE, dt DATETIME, ts TIMESTAMP NULL, dc DECIMAL(4,1), f FLOAT, e ENUM('a','b'), s SET('x','y'), y YEAR, b BIT(2), l VARCHAR(10) CHARACTER SET latin1, g POINT, t TIME, u16 UUID);
INSERT INTO t (n) VALUES (1), (2);
INSERT INTO t (n) VALUES (3), (999), (4);
INSERT INTO t (u) VALUES (1), (-1);
INSERT INTO t (v) VALUES ('abc'), ('abcd');
INSERT INTO t (n) VALUES ('5'), ('x');
INSERT INTO t (n) VALUES ('6x');
INSERT INTO t (d) VALUES ('2020-02-30');
INSERT INTO t (dt) VALUES ('2020-02-30 00:00:00');
INSERT INTO t (ts) VALUES ('1960-01-01');
INSERT INTO t (dc) VALUES (99999);
INSERT INTO t (f) VALUES (1e300);
INSERT INTO t (e) VALUES ('a'), ('c');
INSERT INTO t (e) VALUES (3);
INSERT INTO t (s) VALUES ('x,z');
INSERT INTO t (y) VALUES (1800);
INSERT INTO t (b) VALUES (4);
INSERT INTO t (l) VALUES ('日本');
INSERT INTO t (g) VALUES ('no point');
INSERT INTO t (t) VALUES ('25:99:99');
INSERT INTO t (u16) VALUES ('no uuid');
INSERT INTO t (n) VALUES (7);
INSERT INTO t (id) VALUES (99999999999);
INSERT INTO t (n) VALUES (18446744073709551616);
INSERT INTO t (v) VALUES (1/0);
INSERT INTO t (n) VALUES (8);
