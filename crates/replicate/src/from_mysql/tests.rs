//! Statements of MySQL as MariaDB runs them.

use super::collations::{Name, name, number};
use super::{session, statement, version_number};

const VERSION: u32 = 90_704;
const NOPAD: &str = "utf8mb4_uca1400_nopad_ai_ci";

fn translated(text: &str) -> Result<String, String> {
    let dialect = statement::dialect(&[], VERSION);
    let found = statement::for_mariadb(text.as_bytes(), &dialect, Some(255)).map_err(|refusal| refusal.to_string())?;
    Ok(found.map_or_else(|| text.to_owned(), |found| String::from_utf8(found).unwrap()))
}

/// `@` stands for the collation.
#[test]
fn statements() {
    for (text, expected) in [
        ("CREATE TABLE t (v VARCHAR(9))", "CREATE TABLE t (v VARCHAR(9))"),
        ("CREATE TABLE t (v TEXT COLLATE utf8mb4_0900_ai_ci)", "CREATE TABLE t (v TEXT COLLATE @)"),
        ("CREATE TABLE t (v TEXT) COLLATE='utf8mb4_0900_bin'", "CREATE TABLE t (v TEXT) COLLATE=utf8mb4_nopad_bin"),
        ("SELECT 'a' COLLATE `utf8mb4_de_pb_0900_as_cs`", "SELECT 'a' COLLATE utf8mb4_uca1400_german2_nopad_as_cs"),
        ("INSERT INTO t VALUES ('COLLATE utf8mb4_0900_ai_ci')", "INSERT INTO t VALUES ('COLLATE utf8mb4_0900_ai_ci')"),
        ("CREATE TABLE t (v TEXT) CHARSET=utf8mb4", "CREATE TABLE t (v TEXT) CHARSET=utf8mb4 COLLATE @"),
        ("CREATE TABLE t (v TEXT) CHARSET=latin1", "CREATE TABLE t (v TEXT) CHARSET=latin1"),
        (
            "CREATE TABLE t (v TEXT CHARACTER SET utf8mb4 NOT NULL, w TEXT CHARACTER SET utf8mb4 NOT NULL COLLATE utf8mb4_bin)",
            "CREATE TABLE t (v TEXT CHARACTER SET utf8mb4 COLLATE @ NOT NULL, w TEXT CHARACTER SET utf8mb4 NOT NULL COLLATE utf8mb4_bin)",
        ),
        (
            "CREATE TABLE t (v TEXT) COLLATE utf8mb4_bin, DEFAULT CHARSET 'utf8mb4'",
            "CREATE TABLE t (v TEXT) COLLATE utf8mb4_bin, DEFAULT CHARSET 'utf8mb4'",
        ),
        (
            "CREATE TABLE t (v INT AS (CAST(a AS CHAR CHARACTER SET utf8mb4) = 'a'))",
            "CREATE TABLE t (v INT AS (CAST(a AS CHAR CHARACTER SET utf8mb4) = 'a'))",
        ),
        (
            "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4, ADD w TEXT COLLATE utf8mb4_bin",
            "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE @, ADD w TEXT COLLATE utf8mb4_bin",
        ),
        (
            "CREATE TABLE t (v TEXT CHARACTER SET utf8mb4 BINARY, w TEXT BINARY CHARACTER SET utf8mb4)",
            "CREATE TABLE t (v TEXT CHARACTER SET utf8mb4 BINARY, w TEXT BINARY CHARACTER SET utf8mb4)",
        ),
        ("CREATE DATABASE d CHAR SET utf8mb4", "CREATE DATABASE d CHAR SET utf8mb4 COLLATE @"),
        ("CREATE DATABASE d CHARACTER SET utf8mb4", "CREATE DATABASE d CHARACTER SET utf8mb4 COLLATE @"),
        (
            "CREATE DATABASE /*!32312 IF NOT EXISTS*/ d /*!40100 CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */",
            "CREATE DATABASE   IF NOT EXISTS  d   CHARACTER SET utf8mb4 COLLATE @       ",
        ),
        ("CREATE TABLE t (v INT /*!80023 INVISIBLE */)", "CREATE TABLE t (v INT   INVISIBLE  )"),
        ("CREATE TABLE t (v INT /*!99999 OF THE FUTURE */)", "CREATE TABLE t (v INT /*!99999 OF THE FUTURE */)"),
        ("CREATE TABLE t (v INT /* /*! 1 */ )", "CREATE TABLE t (v INT /* /*! 1 */ )"),
        (
            "CREATE TABLE t (p POINT NOT NULL SRID 4326, q INT, g GEOMETRY SRID 0)",
            "CREATE TABLE t (p POINT REF_SYSTEM_ID=4326 NOT NULL , q INT, g GEOMETRY REF_SYSTEM_ID=0 )",
        ),
        ("CREATE TABLE `t` (\n  `id` int\n) START TRANSACTION", "CREATE TABLE `t` (\n  `id` int\n) "),
        (
            "ALTER TABLE t ADD KEY k (a) INVISIBLE, ADD c INT INVISIBLE",
            "ALTER TABLE t ADD KEY k (a) IGNORED, ADD c INT INVISIBLE",
        ),
        (
            "ALTER TABLE t ADD c INT FIRST, ALGORITHM = INSTANT, LOCK=NONE",
            "ALTER TABLE t ADD c INT FIRST, ALGORITHM = DEFAULT, LOCK=DEFAULT",
        ),
        ("CREATE UNIQUE INDEX k ON t (a) ALGORITHM INPLACE", "CREATE UNIQUE INDEX k ON t (a) ALGORITHM DEFAULT"),
        (
            "ALTER TABLE t ADD c INT, ALGORITHM=COPY, LOCK=EXCLUSIVE",
            "ALTER TABLE t ADD c INT, ALGORITHM=COPY, LOCK=EXCLUSIVE",
        ),
        ("ALTER TABLE t ADD algorithm INT DEFAULT 1", "ALTER TABLE t ADD algorithm INT DEFAULT 1"),
        ("ALTER TABLE t ALTER INDEX k VISIBLE", "ALTER TABLE t ALTER INDEX k NOT IGNORED"),
        ("CREATE TABLE t (c INT UNIQUE KEY INVISIBLE)", "CREATE TABLE t (c INT UNIQUE KEY INVISIBLE)"),
        (
            "CREATE DEFINER=CURRENT_USER EVENT e ON SCHEDULE EVERY 1 DAY DISABLE ON REPLICA DO SELECT 'DISABLE ON REPLICA'",
            "CREATE DEFINER=CURRENT_USER EVENT e ON SCHEDULE EVERY 1 DAY DISABLE ON SLAVE DO SELECT 'DISABLE ON REPLICA'",
        ),
        ("CREATE TABLE t (id INT) ENCRYPTION='Y'", "CREATE TABLE t (id INT) ENCRYPTION='Y'"),
        ("ALTER SCHEMA `d` READ ONLY = 1", "DO 0"),
        ("ALTER DATABASE /*!80022 READ ONLY DEFAULT */", "DO 0"),
        ("ALTER DATABASE d READ ONLY=0 COLLATE utf8mb4_bin READ ONLY 1", "ALTER DATABASE d  COLLATE utf8mb4_bin "),
        ("ALTER DATABASE d COLLATE utf8mb4_bin", "ALTER DATABASE d COLLATE utf8mb4_bin"),
        (
            "CREATE TABLE t (`READ ONLY` INT) COMMENT 'READ ONLY = 1'",
            "CREATE TABLE t (`READ ONLY` INT) COMMENT 'READ ONLY = 1'",
        ),
        ("ANALYZE TABLE t UPDATE HISTOGRAM ON a, b WITH 16 BUCKETS AUTO UPDATE", "ANALYZE TABLE t "),
        ("analyze local table `d`.`t` drop histogram on `a`", "analyze local table `d`.`t` "),
        ("ANALYZE TABLE t, histogram", "ANALYZE TABLE t, histogram"),
        (
            "INSERT INTO t SELECT 'ANALYZE TABLE t UPDATE HISTOGRAM ON a'",
            "INSERT INTO t SELECT 'ANALYZE TABLE t UPDATE HISTOGRAM ON a'",
        ),
        (
            "CREATE TABLE t (`my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */, a INT, PRIMARY KEY (`my_row_id`))",
            "CREATE TABLE t (`my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT   INVISIBLE  , a INT, PRIMARY KEY (`my_row_id`))",
        ),
    ] {
        assert_eq!(translated(text), Ok(expected.replace('@', NOPAD)), "{text}");
    }
    // Where the default is another one, MariaDB has the same.
    let text = b"CREATE TABLE t (v TEXT) CHARSET=utf8mb4";
    assert_eq!(statement::for_mariadb(text, &statement::dialect(&[], VERSION), Some(45)), Ok(None));
}

#[test]
fn statements_that_mariadb_cannot_have() {
    for (text, said) in [
        (
            "CREATE USER 'a'@'%' IDENTIFIED WITH 'caching_sha2_password' AS 'x'",
            "create the account on the target by hand",
        ),
        ("ALTER USER a IDENTIFIED WITH sha256_password BY 'x'", "create the account on the target by hand"),
        (
            "CREATE TABLE t (v TEXT COLLATE utf8mb4_ja_0900_as_cs)",
            "no collation in which the same texts are equal as in utf8mb4_ja",
        ),
        ("ALTER TABLE t CHARSET gb18030 COLLATE gb18030_bin", "gb18030_bin"),
    ] {
        assert!(translated(text).unwrap_err().contains(said), "{text}");
    }
    let native = "CREATE USER 'a'@'%' IDENTIFIED WITH 'mysql_native_password' AS '*0'";
    assert_eq!(translated(native).unwrap(), native);
}

#[test]
fn names_and_numbers_of_collations() {
    for (mysql, mariadb, id, other) in [
        ("utf8mb4_0900_ai_ci", NOPAD, 255, 2308),
        ("utf8mb4_0900_as_cs", "utf8mb4_uca1400_nopad_as_cs", 278, 2311),
        ("utf8mb4_0900_as_ci", "utf8mb4_uca1400_nopad_as_ci", 305, 2310),
        ("utf8mb4_hr_0900_ai_ci", "utf8mb4_uca1400_croatian_nopad_ai_ci", 275, 2500),
        ("UTF8MB4_vi_0900_as_cs", "utf8mb4_uca1400_vietnamese_nopad_as_cs", 300, 2495),
        ("utf8mb4_0900_bin", "utf8mb4_nopad_bin", 309, 1070),
    ] {
        assert_eq!((name(mysql), number(id)), (Name::Other(mariadb.to_owned()), Some(other)), "{mysql}");
    }
    assert_eq!((name("utf8mb4_general_ci"), number(45)), (Name::Same, Some(45)));
    assert_eq!((name("utf8mb4_ja_0900_as_cs_ks"), number(304)), (Name::None, None));
}

/// As MySQL 9.7.4 writes the session variables of CREATE TABLE.
#[test]
fn session_variables() {
    let status = b"\x00\0\0\0\0\x01\x20\0\xa0\x45\0\0\0\0\x06\x03std\x04\xff\0\xff\0\xff\0\x0c\x01d\0\x10\x01\x11\x84\0\0\0\0\0\0\0\
                   \x12\xff\0\x13\0\x14\0\x15\0";
    let expected =
        b"\x00\0\0\0\0\x01\x20\0\xa0\x45\x04\0\0\0\x06\x03std\x04\x04\x09\x04\x09\x04\x09\x0c\x01d\0\x10\x01";
    let (found, default) = session::for_mariadb(status).unwrap();
    assert_eq!((found, default), (expected.to_vec(), Some(255)));
    assert!(session::for_mariadb(b"\x63").unwrap_err().contains("session variable 99"));
    assert!(session::for_mariadb(b"\x08\x30\x01").unwrap_err().contains("the one of number 304"));
    assert_eq!(["9.7.4-2", "8.0.36", "5.7.44-log"].map(version_number), [90_704, 80_036, 50_744]);
}
