-- LAST_INSERT_ID() ties a statement to the one before it on the same connection.
CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10));
CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, parent_id INT, v VARCHAR(10));
INSERT INTO parent (v) VALUES ('a');
INSERT INTO child (parent_id, v) VALUES (LAST_INSERT_ID(), 'a1');
INSERT INTO parent (v) VALUES ('b'), ('c'), ('d');
SET @p = LAST_INSERT_ID();
INSERT INTO child (parent_id, v) VALUES (@p, 'b1'), (@p + 1, 'c1'), (@p + 2, 'd1');
INSERT INTO parent VALUES (NULL, 'e');
INSERT INTO child VALUES (NULL, LAST_INSERT_ID(), 'e1');
INSERT INTO child VALUES (NULL, LAST_INSERT_ID(), 'of a child');
INSERT INTO parent VALUES (50, 'explicit');
INSERT INTO child VALUES (NULL, LAST_INSERT_ID(), 'kept');
INSERT INTO child VALUES (NULL, @@last_insert_id, 'too');
SELECT LAST_INSERT_ID(), @@identity;
INSERT INTO parent VALUES (NULL, 'f');
UPDATE child SET v = 'changed' WHERE parent_id = LAST_INSERT_ID() - 1;
SELECT LAST_INSERT_ID(77);
INSERT INTO child VALUES (NULL, LAST_INSERT_ID(), 'of 77');
