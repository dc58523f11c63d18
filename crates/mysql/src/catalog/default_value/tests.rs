//! Default values as MariaDB 10.11 and MySQL 8.0 print them.

use super::*;

/// MariaDB is asked for its own text, MySQL prints after rules that the text does not tell.
const MARIADB: &[Backslash] = &[Backslash::Escapes];
const MYSQL: &[Backslash] = &[Backslash::Escapes, Backslash::Plain];

#[test]
fn defaults_that_read_the_session() {
    for expression in [
        "@`x`",
        "@x:=5",
        "@@wait_timeout",
        "@@global.server_id",
        r"concat('it\'s \\ @q',uuid(),user())",
        "rand()",
        "connection_id()",
        "last_insert_id()",
        "row_count()",
        "found_rows()",
        "current_user()",
        "CURRENT_USER",
        "current_role()",
        "database()",
        "(1 + nextval(`s`.`s`))",
        "lastval(`s`.`s`)",
        "next value for s",
        "date_format(current_timestamp(),'%Y')",
        "my_function(1)",
        "`my function`(1)",
        "`s`.`f` (1)",
        "(1 + (2 * f(3)))",
        "collation('a')",
        // The other column's default may.
        "default(`b`)",
    ] {
        assert!(reads_session(expression.as_bytes(), MARIADB), "{expression}");
        assert!(reads_session(expression.as_bytes(), MYSQL), "{expression}");
    }
    for expression in [r"concat('a\',@x,'b')", r"concat(_utf8mb4\'a\',user(),_utf8mb4\'b\')"] {
        assert!(reads_session(expression.as_bytes(), MYSQL), "{expression}");
    }
}

#[test]
fn defaults_that_do_not() {
    for expression in [
        "",
        "NULL",
        "7",
        "-1.5e3",
        "'a@b, rand()'",
        "'it''s @ last'",
        "b'101'",
        "0x41",
        "current_timestamp(3)",
        "CURRENT_TIMESTAMP",
        "(curdate() + interval 1 day)",
        "concat('@@x',uuid(),'user()')",
        "(case when 1 in (1,2) then (3) else (4) end)",
        "(cast(1 as char(10) charset utf8mb4) collate utf8mb4_bin)",
        "((1 xor 0) and !(1) and !0)",
        "(if(1 between (0) and (2),5,6) DIV 2)",
        "json_object('a',json_array(1,`@b`))",
        "(`b` + 1)",
        "trim(both 'x' from 'xax')",
        "extract(year from current_timestamp())",
        "timestampdiff(DAY,'2020-01-01',current_timestamp())",
        "char(65,66 using utf8mb4)",
        "uuid_to_bin(uuid())",
        r"concat(_utf8mb4\'a@\',upper(_utf8mb4\'b\'))",
        "hex(random_bytes(3))",
    ] {
        assert!(!reads_session(expression.as_bytes(), MARIADB), "{expression}");
        assert!(!reads_session(expression.as_bytes(), MYSQL), "{expression}");
    }
    assert!(!reads_session(br"concat('it\'s (', '\\\\')", MARIADB));
}
