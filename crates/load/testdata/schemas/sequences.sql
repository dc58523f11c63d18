-- Sequences: used and unused, falling, cycling, as a column's default, across their tables' names.
CREATE SEQUENCE a_used START WITH 7 INCREMENT BY 3;
CREATE SEQUENCE z_falling START WITH 100 INCREMENT BY -10 MINVALUE -1000 MAXVALUE 100 CACHE 5 CYCLE;
CREATE SEQUENCE `m odd name` NOCACHE;
CREATE TABLE b (id BIGINT NOT NULL DEFAULT NEXTVAL(a_used) PRIMARY KEY, v VARCHAR(10));
CREATE TABLE a (id BIGINT DEFAULT NEXTVAL(z_falling), w BIGINT DEFAULT (NEXT VALUE FOR `m odd name`));
INSERT INTO b (v) VALUES ('one'), ('two'), ('three');
INSERT INTO a VALUES (DEFAULT, DEFAULT), (5, DEFAULT);
DO NEXTVAL(a_used), SETVAL(z_falling, -30);
