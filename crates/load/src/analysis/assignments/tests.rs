//! What SET statements assign.

use super::*;
use crate::lexer::{Dialect, tokens};

fn read(text: &str) -> Assignments {
    let dialect = Dialect::mariadb(101_119);
    let all: Vec<_> = tokens(text.as_bytes(), &dialect).collect();
    Assignments {
        reads_beyond_session: false,
        user_variables: false,
        unscoped: Vec::new(),
        plain: None,
        ..assignments(&all[1..])
    }
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
        assert_eq!(read(text).propagated, CHARSET_VARIABLES, "{text}");
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
    for (text, is_only_for_next) in [
        ("SET TIMESTAMP=1795407385", true),
        ("SET @@session.timestamp = 1795407385.25", true),
        ("SET INSERT_ID=7", true),
        ("SET LAST_INSERT_ID=7", true),
        ("SET TIMESTAMP=DEFAULT", false),
        ("SET TIMESTAMP=@t", false),
        ("SET TIMESTAMP=1, INSERT_ID=2", false),
        ("SET sql_mode=0", false),
        ("SET @@global.timestamp=1", false),
    ] {
        let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(101_119)).collect();
        assert_eq!(of_set(&all).only_for_next, is_only_for_next, "{text}");
    }
    assert_eq!(read("SET autocommit = 0"), Assignments { autocommit: true, ..Assignments::default() });
}

#[test]
fn assignments_that_do_the_same_again_are_told_apart() {
    for (text, is_repeatable) in [
        ("SET @a = 1", true),
        ("SET @a := -1.5, @b = 'x', @`c d` = NULL", true),
        ("SET @id = LAST_INSERT_ID()", true),
        ("SET @id = last_insert_id ( )", true),
        ("SET @a = @a + 1", false),
        ("SET @a = @b", false),
        ("SET @a = LAST_INSERT_ID(7)", false),
        ("SET @a = ROW_COUNT()", false),
        ("SET @a = 1, sql_mode = ''", false),
        ("SET @a = @@sql_mode", false),
        ("SET @@a = 1", false),
        ("SET @a = (SELECT MAX(id) FROM t WHERE x = 'y')", true),
        ("SET @a = (SELECT @b)", false),
        ("SET @a = (SELECT RAND())", false),
    ] {
        let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(101_119)).collect();
        assert_eq!(of_set(&all).only_variables, is_repeatable, "{text}");
    }
}

#[test]
fn the_number_of_the_next_row_is_known_from_the_words() {
    for (text, number) in [
        ("SET INSERT_ID=5", Some(5)),
        ("SET @@session.insert_id := 7, timestamp = 9", Some(7)),
        ("SET SESSION insert_id = 2 + 3", None),
        ("SET insert_id = @n", None),
        ("SET timestamp = 9", None),
    ] {
        let found = read(text);
        assert_eq!(
            (found.given_number, found.next_number),
            (number, text.to_lowercase().contains("insert_id")),
            "{text}"
        );
    }
}
