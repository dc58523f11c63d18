-- errors on mysql: the types UUID and INET6 are MariaDB's
-- JSON with its check, UUID, INET4 and INET6, from strings, hex and binary.
CREATE TABLE t (id INT PRIMARY KEY, j JSON, u UUID, i6 INET6, i4 INET4, l LONGTEXT CHECK (JSON_VALID(l)));
INSERT INTO t VALUES (1, '{"a": [1, 2.50, "é\\n\\u0041 \\"q\\""], "b": null}', '123e4567-e89b-12d3-a456-426655440000', '2001:db8::ff00:42:8329', '192.168.0.1', '[]'), (2, '[]', '123E4567E89B12D3A456426655440001', '::ffff:1.2.3.4', '0.0.0.0', NULL);
INSERT INTO t VALUES (3, '"😀"', x'123e4567e89b12d3a456426655440002', x'20010db8000000000000ff0000428329', x'c0a80001', '1'), (4, 'null', NULL, NULL, NULL, 'true');
INSERT INTO t VALUES (5, 12, '00000000-0000-0000-0000-000000000000', '::', '255.255.255.255', 5), (6, TRUE, '123e4567-e89b12d3-a456-426655440003', '::1', '1.2.3.4', FALSE);
INSERT INTO t VALUES (7, JSON_OBJECT('k', 1), NULL, INET6_ATON('::2'), '1.1.1.1', JSON_ARRAY(1, 2));
INSERT INTO t VALUES (8, '  {"spaced" :  1}  ', '123e4567-e89b-12d3-a456-426655440004', '1::', '9.9.9.9', '{"dup":1,"dup":2}'), (9, NULL, NULL, NULL, NULL, NULL);
