-- INSERTs, UPDATEs and DELETEs through views reach the table beneath, in turn with its own.
CREATE TABLE base (id INT PRIMARY KEY, v VARCHAR(10) DEFAULT 'dflt', n INT);
CREATE VIEW small AS SELECT id, v FROM base;
CREATE VIEW smaller AS SELECT id FROM small WHERE id < 100 WITH CHECK OPTION;
INSERT INTO base VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO small VALUES (3, 'c'), (4, 'd');
UPDATE small SET v = 'x' WHERE id < 3;
INSERT INTO base VALUES (5, 'e', 5);
INSERT INTO smaller (id) VALUES (6), (7);
DELETE FROM smaller WHERE id = 5;
INSERT INTO base VALUES (5, 'again', 5);
REPLACE INTO small VALUES (6, 'f');
INSERT IGNORE INTO smaller VALUES (500), (8), (8);
CREATE TABLE other (id INT PRIMARY KEY, w INT);
CREATE VIEW joined AS SELECT base.id AS id, other.id AS other_id, w FROM base JOIN other ON base.id = other.id;
INSERT INTO joined (id) VALUES (9), (10);
INSERT INTO joined (other_id, w) VALUES (9, 90);
UPDATE joined SET w = 91 WHERE id = 9;
