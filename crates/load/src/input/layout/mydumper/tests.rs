//! The texts that are changed before they are loaded.

use super::*;

#[test]
fn a_schema_may_be_there_already() {
    for (text, expected) in [
        ("CREATE DATABASE `x` CHARACTER SET utf8mb4;", "CREATE DATABASE IF NOT EXISTS `x` CHARACTER SET utf8mb4;"),
        ("create  schema x;", "create  schema IF NOT EXISTS x;"),
        ("CREATE DATABASE IF NOT EXISTS `x`;", "CREATE DATABASE IF NOT EXISTS `x`;"),
        ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `x`;", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `x`;"),
        // Words that are a part of something else.
        (
            "/* CREATE DATABASE */ CREATE DATABASE `x` COMMENT 'IF NOT EXISTS';",
            "/* CREATE DATABASE */ CREATE DATABASE IF NOT EXISTS `x` COMMENT 'IF NOT EXISTS';",
        ),
        ("CREATE DATABASE `if`;", "CREATE DATABASE IF NOT EXISTS `if`;"),
        ("SELECT 1;", "SELECT 1;"),
    ] {
        assert_eq!(String::from_utf8(if_not_exists(text.as_bytes())).unwrap(), expected);
    }
}
