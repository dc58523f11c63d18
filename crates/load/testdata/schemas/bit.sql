-- BIT columns of 1 to 64 bits, with defaults and in keys.
CREATE TABLE t (id INT PRIMARY KEY, b1 BIT, b7 BIT(7) DEFAULT b'1010101', b8 BIT(8), b9 BIT(9), b33 BIT(33), b64 BIT(64), UNIQUE (b9));
INSERT INTO t VALUES (1, b'1', b'1111111', b'11111111', b'111111111', b'111111111111111111111111111111111', x'ffffffffffffffff');
INSERT INTO t VALUES (2, b'0', b'0', 0, 0, 0, 0), (3, 1, 39, 39, 39, 39, 39), (4, 1, 92, 92, 92, 92, 92), (5, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO t (id, b64) VALUES (6, 0x2700), (7, 0x5c27), (8, 10);
