//! What SET statements assign.

use super::*;

fn read(text: &str) -> Assignments {
    assignments(text.as_bytes(), &Dialect::mariadb(101_119))
}

#[test]
fn session_variables_are_found_in_every_spelling() {
    for text in [
        "SET sql_mode = ''",
        "SET SQL_MODE := 'ANSI,TRADITIONAL'",
        "SET SESSION sql_mode = ''",
        "SET LOCAL `sql_mode` = ''",
        "SET @@sql_mode = ''",
        "SET @@SESSION.sql_mode = ''",
        "set @@local.`sql_mode` = ''",
        "SET @old = @@sql_mode, sql_mode = CONCAT('a', 'b')",
    ] {
        assert_eq!(
            read(text),
            Assignments { propagated: vec!["sql_mode".to_owned()], ..Assignments::default() },
            "{text}"
        );
    }
    assert_eq!(read("SET @a = 1, @b = 2"), Assignments::default());
    for text in ["SET NAMES latin1 COLLATE latin1_bin", "SET CHARACTER SET utf8", "SET CHARSET utf8"] {
        assert_eq!(read(text).propagated, assignments::CHARSET_VARIABLES, "{text}");
    }
}

#[test]
fn what_only_the_main_session_can_hold_is_told_apart() {
    for text in ["SET GLOBAL x = 1", "SET @@global.x = 1", "SET PERSIST x = 1", "SET ROLE r"] {
        assert!(read(text).beyond_session, "{text}");
    }
    assert_eq!(read("SET TIMESTAMP = 1").session_local, [("timestamp".to_owned(), false)]);
    assert_eq!(read("SET timestamp = DEFAULT").session_local, [("timestamp".to_owned(), true)]);
    assert!(read("SET INSERT_ID = 7").is_one_shot);
    assert!(read("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE").is_one_shot);
    assert_eq!(read("SET autocommit = 0"), Assignments::default());
}

#[test]
fn numbers_stay_numbers_and_texts_texts() {
    for (value, expected) in [
        (Some(&b"1"[..]), "1"),
        (Some(b"-1"), "-1"),
        (Some(b"0.5"), "0.5"),
        (Some(b"+00:00"), "'+00:00'"),
        (Some(b""), "''"),
        (Some(b"1.2.3"), "'1.2.3'"),
        (None, "NULL"),
    ] {
        assert_eq!(value_as_sql(value), expected.as_bytes());
    }
}
