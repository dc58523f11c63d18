-- ALTER DATABASE in mid-stream: tables created afterwards inherit another charset.
ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_german1_ci;
CREATE TABLE a (v VARCHAR(10));
INSERT INTO a VALUES ('ä'), ('b');
ALTER DATABASE CHARACTER SET = utf8mb4;
CREATE TABLE b (v VARCHAR(10));
INSERT INTO b VALUES ('ä'), ('😀');
SET collation_connection = utf8mb4_bin;
CREATE TABLE c AS SELECT 'x' AS v;
SET character_set_server = latin1;
CREATE TABLE d (v VARCHAR(10));
INSERT INTO d VALUES ('ä'), ('€');
