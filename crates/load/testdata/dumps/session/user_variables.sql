-- User variables: set by SET, by SELECT … INTO and within VALUES, read by later statements.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(50));
SET @a = 1, @b := 'word';
INSERT INTO t VALUES (@a, @b), (@a + 1, CONCAT(@b, '!'));
SET @a = 10;
INSERT INTO t VALUES (@a, 'ten');
INSERT INTO t VALUES (@a := @a + 1, 'eleven'), (@a := @a + 1, 'twelve');
SELECT MAX(id), COUNT(*) INTO @top, @rows FROM t;
INSERT INTO t VALUES (100 + @top, CONCAT('rows: ', @rows));
INSERT INTO t VALUES (200, @never_set);
SET @a = (SELECT COUNT(*) FROM t);
INSERT INTO t VALUES (300, @a), (301, @`a`), (302, @'b');
SELECT @a, @b, @top;
