-- errors on mysql: IGNORED indexes are MariaDB's
-- Every kind of index: unique, prefix, FULLTEXT, SPATIAL, descending, USING, IGNORED, with comments, on generated columns.
CREATE TABLE t (
  id INT NOT NULL,
  name VARCHAR(100) NOT NULL,
  body TEXT,
  place POINT NOT NULL,
  n INT,
  low VARCHAR(100) AS (LOWER(name)) VIRTUAL,
  blobby BLOB,
  PRIMARY KEY (id),
  UNIQUE KEY `u name` (name, n),
  KEY prefix (name(5), body(10)),
  FULLTEXT KEY ft (body),
  FULLTEXT KEY ft2 (name, body),
  SPATIAL KEY sp (place),
  KEY falling (n DESC, id ASC),
  KEY hashed USING BTREE (n),
  KEY low (low),
  UNIQUE KEY longer (blobby) COMMENT 'a hash of the whole',
  KEY unseen (n, id) IGNORED
) ENGINE=InnoDB COMMENT='all; of ''them''';
INSERT INTO t (id, name, body, place, n, blobby) VALUES (1, 'One', 'the quick brown fox', POINT(1, 2), 5, 'a'), (2, 'Two', 'jumps over', ST_GeomFromText('POINT(3 4)'), 6, 'b');
INSERT INTO t (id, name, body, place, n, blobby) VALUES (3, 'Three', 'the lazy dog', 0x000000000101000000000000000000F03F0000000000000040, 7, 'c');
INSERT INTO t (id, name, body, place, n, blobby) VALUES (4, 'Four', NULL, _binary'\0\0\0\0\0\0\0\0\0\0\0\0\0ð?\0\0\0\0\0\0ð?', 8, NULL);
SELECT id FROM t WHERE MATCH (body) AGAINST ('lazy');
SELECT id FROM t WHERE ST_Distance(place, POINT(1, 2)) < 0.5 ORDER BY id;
CREATE INDEX later ON t (blobby(3));
DROP INDEX falling ON t;
ALTER TABLE t ADD UNIQUE (id, n), RENAME INDEX prefix TO renamed;
