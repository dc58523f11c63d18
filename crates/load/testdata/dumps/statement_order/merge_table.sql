-- not on mysql: MERGE tables of MyISAM tables that rows are written to
-- ALTER and CREATE of a MERGE table wait for the rows of its children, and a change of a child for rows through it.
CREATE TABLE a (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE b (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE m (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MERGE UNION=(a, b) INSERT_METHOD=LAST;
INSERT INTO a VALUES (1, 'a'), (2, 'a');
INSERT INTO m VALUES (3, 'm'), (4, 'm');
INSERT INTO b VALUES (5, 'b'), (6, 'b');
ALTER TABLE m UNION=(a);
SELECT COUNT(*) FROM m;
ALTER TABLE m UNION=(a, b) INSERT_METHOD=FIRST;
INSERT INTO m VALUES (7, 'm');
INSERT INTO b VALUES (8, 'b');
INSERT INTO m VALUES (9, 'm'), (10, 'm');
SELECT id FROM a ORDER BY id;
SELECT id FROM m ORDER BY id;
