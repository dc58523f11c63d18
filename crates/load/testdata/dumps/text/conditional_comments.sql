-- errors on mysql: comments of MariaDB's versions are executed there only, and those of MySQL's here only
-- Conditional comments: by version, MariaDB's own, those of newer servers and of MySQL 5.7 and 8 that MariaDB skips.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(60) /*!80016 NOT NULL */ /*M!100000 DEFAULT 'maria' */ /*M!999999 NOT NULL */);
/*!40101 INSERT INTO t VALUES (1, 'a') */;
/*!99999 INSERT INTO t VALUES (2, 'never') */;
/*!50701 INSERT INTO t VALUES (3, 'never on MariaDB') */;
/*!80000 INSERT INTO t VALUES (4, 'never on MariaDB') */;
/*!100100 INSERT INTO t VALUES (5, 'six digits') */;
/*M!100100 INSERT INTO t VALUES (6, 'M and six digits') */;
/*M! INSERT INTO t VALUES (7, 'M without a number') */;
/*! INSERT INTO t VALUES (8, 'no number') */;
INSERT INTO t VALUES (/*!50000 9 */, 'i'), (/*!99999 100 +*/ 10, /*!40000 'j' */);
INSERT INTO t VALUES (11, 'k') /*!99999 , (12, 'never') */ /*!40000 , (13, 'm') */;
INSERT /*!99999 IGNORE */ INTO t VALUES (14, 'n' /*M!100000 'nn' */);
INSERT /*!40000 IGNORE */ INTO t VALUES (14, 'dropped'), (15, 'o');
INSERT INTO t /*!50600 (id) VALUES (16) */ /*!50700 (id) VALUES (17) */;
/*!50003 INSERT INTO t VALUES (18, 'semi;colon') */;
/*!50003 INSERT INTO t VALUES (19, '*\/ quote') */;
/*!50003 INSERT INTO t VALUES (20, 'x') -- line comment within */
*/;
/*!100000INSERT INTO t VALUES (21, 'stuck')*/;
INSERT INTO t VALUES (23, '/*!99999 kept */'), (24, "/*M!100100 kept */");
/*!40101 SET NAMES utf8mb4 */;/*!40101 INSERT INTO t VALUES (25, 'é') */;
/*!999999 this is never read, though it has quotes: 'a' "b"
or the next line */;
SELECT /*!40000 1 + */ 1 /*!99999 + 1 */ AS two;
