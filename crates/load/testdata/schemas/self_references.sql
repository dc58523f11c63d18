-- Tables that refer to themselves, rows in an order in which parents do not come first by key.
CREATE TABLE node (id INT PRIMARY KEY, parent INT, label VARCHAR(20), KEY (parent), CONSTRAINT up FOREIGN KEY (parent) REFERENCES node (id) ON DELETE CASCADE);
INSERT INTO node VALUES (50, NULL, 'root'), (10, 50, 'a'), (90, 50, 'b'), (5, 10, 'c'), (7, 90, 'd'), (60, 60, 'itself');
INSERT INTO node SELECT id + 1000, id, label FROM node;
CREATE TABLE chain (code CHAR(3) PRIMARY KEY, next CHAR(3), FOREIGN KEY (next) REFERENCES chain (code));
INSERT INTO chain VALUES ('zzz', NULL), ('mmm', 'zzz'), ('aaa', 'mmm');
