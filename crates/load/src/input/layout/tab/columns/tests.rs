//! Definitions, whole and with parts left out.

use super::*;

fn columns_of(definition: &str, charset: &str, has_header: bool) -> Result<RowsFields, String> {
    of_definition(b"t", definition.as_bytes(), charset, &Format::load_data(), has_header)
}

fn encodings(found: Result<RowsFields, String>) -> Vec<Encoding> {
    match found.map(|found| found.columns) {
        Ok(Columns::Named(fields)) => fields.into_iter().map(|field| field.encoding).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_definition_that_is_not_certain_may_have_small_bits() {
    let is_plain = |definition: &str| columns_of(definition, BINARY, false).map(|found| found.columns == Columns::All);
    for bits in ["bit", "bit(1)", "bit(3)"] {
        let definition = format!("CREATE TABLE t (\n  a {bits} DEFAULT NULL\n)");
        assert_eq!(is_plain(&definition), Ok(true), "{bits}");
        assert!(columns_of(&definition, BINARY, true).is_err(), "{bits}");
    }
    // Nine and ten are a tab and a line end.
    for bits in [4, 6, 8, 64] {
        assert!(is_plain(&format!("CREATE TABLE t (\n  a bit({bits}) DEFAULT NULL\n)")).is_err(), "{bits}");
    }
    for known in [
        "CREATE TABLE IF NOT EXISTS `t` (\n  `a` bit(9) DEFAULT NULL\n) ENGINE=InnoDB",
        "CREATE TABLE `t` (\n  `a` bit(9)\n)",
    ] {
        assert_eq!(is_plain(known), Ok(false));
    }
}

#[test]
fn json_and_addresses_are_text_among_bytes() {
    let columns = "`j` json DEFAULT NULL,\n  `a` inet6 NOT NULL,\n  `c` longtext NOT NULL";
    for options in ["", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"] {
        let definition = format!("CREATE TABLE `t` (\n  {columns}\n){options}");
        let of_charset = |charset| encodings(columns_of(&definition, charset, false));
        assert_eq!(of_charset(BINARY), [Encoding::Utf8, Encoding::Utf8, Encoding::Plain]);
        assert_eq!(of_charset("latin1"), [Encoding::Plain, Encoding::Utf8, Encoding::Plain]);
    }
    // Without quotes around names, only the type is known.
    for (column, is_refused) in [
        ("a inet6", true),
        ("a uuid NOT NULL", true),
        ("uuid char(36)", false),
        ("id char(36) DEFAULT uuid(),\n  uuid varchar(9),\n  d decimal(9,2),\n  KEY uuid (uuid)", false),
        ("d decimal(9,2),\n  b bit(1),\n  u uuid", true),
        ("a int GENERATED ALWAYS AS (1) VIRTUAL", true),
        ("a int INVISIBLE", true),
        ("a int COMMENT 'generated always'", false),
    ] {
        let found = columns_of(&format!("CREATE TABLE t (\n  {column}\n) ENGINE=InnoDB"), BINARY, false);
        assert_eq!(found.is_err(), is_refused, "{column}");
    }
}

#[test]
fn bits_behind_a_header_are_numbers() {
    let definition = "CREATE TABLE `t` (\n  `a` bit(16) DEFAULT NULL,\n  `b` int(11)\n) ENGINE=InnoDB";
    for charset in [BINARY, "latin1", "utf8mb3"] {
        assert_eq!(encodings(columns_of(definition, charset, true)), [Encoding::Number, Encoding::Plain]);
    }
}

#[test]
fn texts_are_in_the_default_character_set_where_the_definition_names_none() {
    for (columns, options, expected) in [
        ("`t` varchar(9)", "", true),
        ("`t` varchar(9)", " DEFAULT CHARSET=sjis", false),
        ("`t` varchar(9) CHARACTER SET latin1", "", false),
        ("`t` int(11), `b` blob", "", false),
        ("t varchar(9)", "", true),
        ("t varchar(9)", " DEFAULT CHARSET=utf8mb4", false),
    ] {
        let definition = format!("CREATE TABLE `t` (\n  {columns}\n){options}");
        let found = columns_of(&definition, BINARY, false).map(|found| found.are_in_default_charset);
        assert_eq!(found, Ok(expected), "{definition}");
        assert_eq!(columns_of(&definition, "latin1", false).map(|found| found.are_in_default_charset), Ok(false));
    }
}

#[test]
fn numbers_are_escaped_only_where_there_are_escapes() {
    let format = |escaped: Option<u8>| Format { fields_terminated: b"-".to_vec(), escaped, ..Format::load_data() };
    let content = |escaped| {
        let definition = b"CREATE TABLE `t` (\n  `a` bit(16)\n) ENGINE=InnoDB";
        match of_definition(b"t", definition, BINARY, &format(escaped), false).map(|found| found.columns) {
            Ok(Columns::Named(fields)) => fields[0].content,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(content(Some(b'\\')), Content::default());
    assert_eq!(content(None), Content::Bits(Bits { bits: 16, nullable: true }));
}
