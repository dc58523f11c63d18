-- JSON columns with their checks: nested, escaped, unicode, numbers of every form, scalars, NULL against 'null'.
CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON NOT NULL DEFAULT '{}', l LONGTEXT CHECK (JSON_VALID(l) AND JSON_LENGTH(l) < 5));
INSERT INTO t VALUES (1, '{"a":{"b":[1,2,{"c":null}]},"d":"quote \\" back \\\\ slash \\/ tab \\t"}', '[]', NULL);
INSERT INTO t VALUES (2, 'null', 'true', '[1]'), (3, NULL, '1e400', '"x"'), (4, '"\\u00e9\\ud83d\\ude00 é😀"', '-0.0', '{}');
INSERT INTO t VALUES (5, '  [ 1 , 2 ]  ', '{"a":1,"a":2}', '[1,2,3,4]'), (6, '"it''s"', '"%_;--"', '{"a;":"\\n"}');
INSERT INTO t (id, j) VALUES (7, '123456789012345678901234567890.1234567890');
