-- ENUM and SET by name, by number and by number in quotes; BIT; YEAR of two digits as number and as string.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, e ENUM('a','b','2','it''s','') , s SET('x','y','z','1'), b BIT(12), b1 BIT, b64 BIT(64), y YEAR, u ENUM('é','ß') CHARACTER SET latin1);
INSERT INTO t (e, s, b, b1, b64, y, u) VALUES ('a', 'x', b'101', b'1', b'1111111111111111111111111111111111111111111111111111111111111111', 70, 'é'), (2, 3, 5, 1, 18446744073709551615, '70', 2), ('2', '3', '5', 1, '5', 69, 'ß'), (5, 'x,y,z', 'a', 0, 0xff, '69', 1);
INSERT INTO t (e, s, b, b1, b64, y, u) VALUES ('A ', 'z,x', x'0fff', TRUE, x'0102', 0, 'É'), ('it''s', '', 4095, '\0', x'000001', '0', NULL), ('', 0, b'', x'01', '', '00', 'é'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL), ('1', '1', 1, b'0', 1, '1', '1');
INSERT INTO t (e, s, b, b1, b64, y, u) VALUES (1.4, 1.6, 1.6, 0.4, 1.5, 1.5, 1.2), (3, 15, 0x41, 0x01, -1, 2155, '2'), ('3', '15', '\\', '', 'abcdefgh', '1901', 0xdf);
SET sql_mode='';
INSERT INTO t (e, s, b, b1, b64, y, u) VALUES ('none', 'x,none,y', 4096, 2, 'abcdefghi', 3000, 'x'), (99, 16, -1, -1, 1e30, -1, 99), (0, -1, 'toolong', 'x', 99999999999999999999, 100, 0), ('99', '16', 1e5, 1e5, '99999999999999999999', 'x', '');
INSERT INTO t (e, s, b, b1, b64, y, u) VALUES (TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE), ('0', '0', '0', '0', '0', '0', '0'), (' a', ' x', ' ', ' ', ' ', ' 70', ' é');
