-- only with force: a statement of the transaction fails
-- Within a transaction of the dump a statement fails, the next numbers rows, and a definition commits them.
CREATE TABLE a (id INT PRIMARY KEY, n INT NOT NULL);
CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, n INT DEFAULT 7);
INSERT INTO b (id, n) VALUES (0, 27), (26, 40);
START TRANSACTION WITH CONSISTENT SNAPSHOT;
INSERT INTO a VALUES (1, 1), (2, NULL);
INSERT INTO b (n) VALUES (8);
INSERT INTO a (id) VALUES (3);
INSERT INTO b VALUES (40, 8);
CREATE TABLE c LIKE a;
INSERT INTO b (n) VALUES (9);
