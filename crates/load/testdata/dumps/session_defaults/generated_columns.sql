-- errors on mysql: its generated columns read no variable
-- Generated columns that read the session.
CREATE TABLE g (id INT PRIMARY KEY, a TEXT AS (@@sql_mode) VIRTUAL, b INT AS (id + @@div_precision_increment) VIRTUAL);
INSERT INTO g (id) VALUES (1), (2);
SELECT b FROM g ORDER BY id;
SET div_precision_increment = 9;
INSERT INTO g (id) VALUES (3);
SELECT b FROM g ORDER BY id;
