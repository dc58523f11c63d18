-- The default engine has two names, of which the server reports the one that is set.
-- errors on mysql: it has one name for it
SET storage_engine=MyISAM;
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1),(2);
INSERT INTO t VALUES (3),(NULL);
SET storage_engine=InnoDB;
CREATE TABLE u (a INT);
INSERT INTO u VALUES (1);
