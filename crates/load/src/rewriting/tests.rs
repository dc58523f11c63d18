//! Texts and what becomes of them.

use super::{Rewriting, rewrite};
use crate::analysis::statement_tokens;
use crate::lexer::Dialect;
use crate::planner::Names;
use crate::selection::scope;

/// The text with the changes.
fn changed(rules: &Rewriting, text: &str) -> Result<String, String> {
    let tokens = statement_tokens(text.as_bytes(), &Dialect::mariadb(101_119)).expect("few tokens");
    let scopes: Vec<_> = tokens.iter().map(|all| scope(all)).collect();
    let names = Names { database: Some(b"shop"), folds_case: false, are_utf8: true };
    let changed = rewrite(text.as_bytes(), &tokens, &scopes, rules, names)?;
    Ok(changed.map_or(text.to_owned(), |text| String::from_utf8(text).expect("text")))
}

fn check(rules: &Rewriting, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(changed(rules, text).expect("certain"), *expected);
    }
}

#[test]
fn definers() {
    let rules =
        |definer: &str| Rewriting { definer: Some(definer.parse().expect("a definer")), ..Rewriting::default() };
    check(
        &rules("strip"),
        &[
            (
                "CREATE DEFINER=`a`@`%` PROCEDURE p() SELECT 'DEFINER=`a`@`%`'",
                "CREATE  PROCEDURE p() SELECT 'DEFINER=`a`@`%`'",
            ),
            (
                "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a=1 */",
                "/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a=1 */",
            ),
            (
                "/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */ /*!50001 VIEW `v` AS select 1 */",
                "/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013  SQL SECURITY DEFINER */ /*!50001 VIEW `v` AS select 1 */",
            ),
            (
                "CREATE DEFINER = CURRENT_USER() EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
                "CREATE  EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            ),
            ("CREATE PROCEDURE p(definer INT) SET definer = 1", "CREATE PROCEDURE p(definer INT) SET definer = 1"),
            ("CREATE TABLE t (definer INT, CHECK (definer = 1))", "CREATE TABLE t (definer INT, CHECK (definer = 1))"),
        ],
    );
    check(
        &rules("app@10.0.%"),
        &[
            (
                "CREATE DEFINER='a'@'%' FUNCTION f() RETURNS INT RETURN 1",
                "CREATE DEFINER=`app`@`10.0.%` FUNCTION f() RETURNS INT RETURN 1",
            ),
            (
                "CREATE DEFINER=a FUNCTION f() RETURNS INT RETURN 1",
                "CREATE DEFINER=`app`@`10.0.%` FUNCTION f() RETURNS INT RETURN 1",
            ),
        ],
    );
    check(
        &rules("CURRENT_USER"),
        &[("ALTER DEFINER=a@b EVENT e DISABLE", "ALTER DEFINER=CURRENT_USER EVENT e DISABLE")],
    );
}

#[test]
fn engines() {
    let rules = Rewriting { engines: vec!["MyISAM=InnoDB".parse().expect("engines")], ..Rewriting::default() };
    check(
        &rules,
        &[
            (
                "CREATE TABLE t (id int) ENGINE=myisam COMMENT='ENGINE=MyISAM'",
                "CREATE TABLE t (id int) ENGINE=InnoDB COMMENT='ENGINE=MyISAM'",
            ),
            ("CREATE TABLE t (id int) ENGINE MyISAM", "CREATE TABLE t (id int) ENGINE InnoDB"),
            ("CREATE TABLE t (id int) ENGINE=Aria", "CREATE TABLE t (id int) ENGINE=Aria"),
            (
                "CREATE TABLE t (engine INT DEFAULT 1, b INT AS (engine = MyISAM)) ENGINE='MyISAM'",
                "CREATE TABLE t (engine INT DEFAULT 1, b INT AS (engine = MyISAM)) ENGINE=InnoDB",
            ),
            (
                "CREATE TABLE t (a int) ENGINE=MyISAM\n PARTITION BY RANGE (a)\n(PARTITION p VALUES LESS THAN (1) ENGINE = MyISAM)",
                "CREATE TABLE t (a int) ENGINE=InnoDB\n PARTITION BY RANGE (a)\n(PARTITION p VALUES LESS THAN (1) ENGINE = InnoDB)",
            ),
            ("ALTER TABLE t ENGINE = MyISAM", "ALTER TABLE t ENGINE = InnoDB"),
            ("CREATE SEQUENCE s START WITH 1 ENGINE=MyISAM", "CREATE SEQUENCE s START WITH 1 ENGINE=InnoDB"),
            (
                "CREATE TABLE t (a int) ENGINE MyISAM PARTITION BY HASH (a) (PARTITION p ENGINE MyISAM, PARTITION q STORAGE ENGINE MyISAM)",
                "CREATE TABLE t (a int) ENGINE InnoDB PARTITION BY HASH (a) (PARTITION p ENGINE InnoDB, PARTITION q STORAGE ENGINE InnoDB)",
            ),
            (
                "ALTER TABLE t ADD PARTITION (PARTITION p VALUES IN (1) ENGINE = MyISAM)",
                "ALTER TABLE t ADD PARTITION (PARTITION p VALUES IN (1) ENGINE = InnoDB)",
            ),
            (
                "CREATE TABLE t ENGINE=MyISAM AS SELECT * FROM u WHERE engine = 'MyISAM'",
                "CREATE TABLE t ENGINE=InnoDB AS SELECT * FROM u WHERE engine = 'MyISAM'",
            ),
            (
                "ALTER TABLE t ADD CHECK (engine = 'MyISAM'), ENGINE = MyISAM",
                "ALTER TABLE t ADD CHECK (engine = 'MyISAM'), ENGINE = InnoDB",
            ),
            ("CREATE TABLE t ENGINE=MyISAM SELECT 1", "CREATE TABLE t ENGINE=InnoDB SELECT 1"),
            ("INSERT INTO t VALUES ('ENGINE=MyISAM')", "INSERT INTO t VALUES ('ENGINE=MyISAM')"),
        ],
    );
    assert!("MyISAM".parse::<super::EngineMap>().is_err());
    assert!("My ISAM=InnoDB".parse::<super::EngineMap>().is_err());
}

#[test]
fn schemas_in_backticks() {
    let rules = Rewriting {
        databases: vec!["`shop`=`a``=b`".parse().expect("schemas"), "crm=`x`".parse().expect("schemas")],
        ..Rewriting::default()
    };
    check(&rules, &[("DROP TABLE shop.a, crm.b", "DROP TABLE `a``=b`.a, `x`.b")]);
    for text in ["`shop`", "`shop=new", "shop=`new", "shop=`new`x", "``=new", "`shop`=shop", "shop"] {
        assert!(text.parse::<super::DatabaseMap>().is_err(), "{text}");
    }
}

#[test]
fn options_that_name_nothing() {
    for text in ["nobody", "@host", "user@", "a@b`c"] {
        assert!(text.parse::<super::Definer>().is_err(), "{text}");
    }
}

#[test]
fn schemas() {
    let maps = ["shop=new shop", "crm=crm2"].map(|text| text.parse().expect("schemas"));
    let rules = Rewriting { databases: maps.into(), ..Rewriting::default() };
    check(
        &rules,
        &[
            ("/*!40000 DROP DATABASE IF EXISTS `shop`*/", "/*!40000 DROP DATABASE IF EXISTS `new shop`*/"),
            ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ shop", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `new shop`"),
            ("ALTER DATABASE `shop` CHARACTER SET latin1", "ALTER DATABASE `new shop` CHARACTER SET latin1"),
            ("DROP TABLE shop.a, `shop`.b, other.c", "DROP TABLE `new shop`.a, `new shop`.b, other.c"),
            (
                "CREATE TABLE shop.t (shop INT, b INT DEFAULT nextval(`shop`.`s`), FOREIGN KEY (b) REFERENCES `crm`.`p` (id)) COMMENT='shop.t'",
                "CREATE TABLE `new shop`.t (shop INT, b INT DEFAULT nextval(`new shop`.`s`), FOREIGN KEY (b) REFERENCES `crm2`.`p` (id)) COMMENT='shop.t'",
            ),
            ("LOCK TABLES shop.a WRITE, shop.b READ", "LOCK TABLES `new shop`.a WRITE, `new shop`.b READ"),
            ("RENAME TABLE shop.a TO crm.b", "RENAME TABLE `new shop`.a TO `crm2`.b"),
            ("ALTER TABLE shop.a RENAME crm.b", "ALTER TABLE `new shop`.a RENAME `crm2`.b"),
            ("ALTER TABLE shop.a RENAME AS shop.b", "ALTER TABLE `new shop`.a RENAME AS `new shop`.b"),
            ("CREATE INDEX i ON shop.t (a)", "CREATE INDEX i ON `new shop`.t (a)"),
            (
                "INSERT INTO shop.t SELECT shop.t.a FROM crm.u",
                "INSERT INTO `new shop`.t SELECT `new shop`.t.a FROM `crm2`.u",
            ),
            ("SELECT SETVAL(`shop`.`s`, 5, 0)", "SELECT SETVAL(`new shop`.`s`, 5, 0)"),
            (
                "CREATE TRIGGER shop.g BEFORE INSERT ON shop.t FOR EACH ROW SET NEW.shop = 1",
                "CREATE TRIGGER `new shop`.g BEFORE INSERT ON `new shop`.t FOR EACH ROW SET NEW.shop = 1",
            ),
            ("CREATE PROCEDURE shop.p() SELECT shop FROM t", "CREATE PROCEDURE `new shop`.p() SELECT shop FROM t"),
            ("CREATE VIEW v AS select `t`.`id` from `t`", "CREATE VIEW v AS select `t`.`id` from `t`"),
            ("SET @a = 'shop.t'", "SET @a = 'shop.t'"),
            ("GRANT SELECT ON other.* TO a", "GRANT SELECT ON other.* TO a"),
        ],
    );
    for text in [
        "CREATE VIEW v AS select `shop`.`t`.`id` from `shop`.`t`",
        "CREATE PROCEDURE p() INSERT INTO shop.t VALUES (1)",
        "CREATE PROCEDURE p() EXECUTE IMMEDIATE 'SELECT 1'",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW INSERT INTO shop.log VALUES (1)",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO CALL shop.p()",
        "GRANT SELECT ON shop.* TO a",
        "UPDATE u AS shop SET shop.a = 1",
        "SHOW TABLES FROM shop",
        "CALL p()",
        "PREPARE s FROM 'SELECT * FROM shop.t'",
    ] {
        assert!(changed(&rules, text).is_err(), "{text}");
    }
}
