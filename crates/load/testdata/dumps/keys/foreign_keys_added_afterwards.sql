-- Foreign keys and other keys that come by ALTER TABLE after the rows.
CREATE TABLE child (id INT NOT NULL, p INT, w VARCHAR(20)) ENGINE=InnoDB;
CREATE TABLE parent (id INT NOT NULL, v INT) ENGINE=InnoDB;
INSERT INTO child VALUES (1, 1, 'x'), (2, 2, 'y');
INSERT INTO parent VALUES (1, 5), (2, 6);
INSERT INTO child VALUES (3, 1, 'z'), (4, NULL, 'w');
ALTER TABLE parent ADD PRIMARY KEY (id), ADD UNIQUE KEY uv (v);
ALTER TABLE child ADD PRIMARY KEY (id), ADD KEY (w), MODIFY id INT NOT NULL AUTO_INCREMENT;
ALTER TABLE child ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES parent (id) ON DELETE SET NULL;
ALTER TABLE child AUTO_INCREMENT=77;
INSERT INTO child (p, w) VALUES (2, 'late');
DELETE FROM parent WHERE id = 1;
ALTER TABLE child DROP FOREIGN KEY fk;
INSERT INTO child (p, w) VALUES (1, 'orphan');
