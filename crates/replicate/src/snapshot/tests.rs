//! Rows and definitions as text, without a server.

use super::definitions::statements;
use super::inventory::Definition;
use super::objects::{Kind, Object};
use super::row_text::{CopiedColumn, FirstColumn, RowText, select};

fn columns(types: &[(&str, &str)]) -> Vec<CopiedColumn> {
    let named = types.iter().enumerate();
    named
        .map(|(index, (kind, charset))| CopiedColumn::new(format!("c{index}").as_bytes(), kind, charset).unwrap())
        .collect()
}

fn text(types: &[(&str, &str)], rows: &[&[Option<&[u8]>]]) -> String {
    let mut text = RowText::new(b"`d`.`t`", &columns(types), FirstColumn::None);
    rows.iter().for_each(|row| text.push(row));
    String::from_utf8(text.take()).unwrap()
}

#[test]
fn what_is_selected() {
    let types = [("int", ""), ("float", ""), ("enum", "utf8mb4"), ("bit", ""), ("char", "sjis"), ("text", "latin1")];
    assert_eq!(
        String::from_utf8(select(b"`d`.`t`", &columns(&types), true)).unwrap(),
        "SELECT SQL_NO_CACHE `c0`, `c1` * 1e0, `c2` + 0, `c3` + 0, CAST(`c4` AS BINARY), `c5` FROM `d`.`t` FOR SYSTEM_TIME ALL"
    );
    assert_eq!(select(b"t", &[], false), b"SELECT SQL_NO_CACHE 1 FROM t");
    assert_eq!(CopiedColumn::new(b"c", "VECTOR of MySQL", ""), None);
}

#[test]
fn rows_as_statements() {
    for (types, value, expected) in [
        (("int", ""), Some(&b"-5"[..]), "-5"),
        (("int", ""), None, "NULL"),
        (("varchar", "utf8mb4"), Some("it's a \\\r\n\0ü".as_bytes()), "'it\\'s a \\\\\\r\n\\0ü'"),
        (("blob", ""), Some(b"\0\xff"), "0x00ff"),
        (("blob", ""), Some(b""), "''"),
        (("char", "sjis"), Some(b"\x95\x5c"), "_sjis 0x955c"),
        (("char", "sjis"), Some(b""), "''"),
        (("date", ""), Some(b"0000-00-00"), "'0000-00-00'"),
    ] {
        assert_eq!(text(&[types], &[&[value]]), format!("INSERT INTO `d`.`t` (`c0`) VALUES ({expected});\n"));
    }
    let two = text(&[("int", ""), ("enum", "latin1")], &[&[Some(b"1"), Some(b"1")], &[Some(b"2"), None]]);
    assert_eq!(two, "INSERT INTO `d`.`t` (`c0`, `c1`) VALUES (1,1),(2,NULL);\n");
    assert_eq!(text(&[], &[&[Some(b"1")], &[Some(b"1")]]), "INSERT INTO `d`.`t` () VALUES (),();\n");
    assert_eq!(text(&[("int", "")], &[]), "");
}

/// The error value of an ENUM has no literal that a strict mode takes.
#[test]
fn the_error_value_of_an_enum() {
    let rows: [&[Option<&[u8]>]; 3] = [&[Some(b"1")], &[Some(b"0")], &[Some(b"2")]];
    let lines = text(&[("enum", "latin1")], &rows);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(
        (lines[0], lines[2], lines[4]),
        (
            "INSERT INTO `d`.`t` (`c0`) VALUES (1);",
            "INSERT INTO `d`.`t` (`c0`) VALUES (0);",
            "INSERT INTO `d`.`t` (`c0`) VALUES (2);"
        )
    );
    assert!(!lines[1].contains("STRICT") && lines[3].contains("STRICT"), "{lines:?}");
}

#[test]
fn an_event_is_made_in_its_session_and_disabled() {
    let definition = Definition {
        object: Object { kind: Kind::Event, schema: b"d".to_vec(), name: b"e".to_vec() },
        create: b"CREATE EVENT `e` ...".to_vec(),
        default_schema: b"d".to_vec(),
        session: Some([b"ANSI".to_vec(), b"latin1".to_vec(), b"latin1_bin".to_vec()]),
        time_zone: Some(b"SYSTEM".to_vec()),
        created_s: Some(7),
        values: Vec::new(),
        shared: None,
    };
    let (all, create) = statements(&definition);
    let all: Vec<String> = all.into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
    assert_eq!(all[create], "CREATE EVENT `e` ...");
    assert_eq!(
        all[..create],
        [
            "USE `d`",
            "SET SESSION sql_mode = 'ANSI', collation_connection = 'latin1_bin', character_set_client = 'latin1'",
            "SET SESSION time_zone = 'SYSTEM'",
            "SET SESSION timestamp = 7",
        ]
    );
    assert_eq!(all[create + 1], "ALTER EVENT `d`.`e` DISABLE ON SLAVE");
}

#[test]
fn current_rows_stay_current() {
    for (version, end) in [(101_119, "'2038-01-19 03:14:07.999999'"), (110_809, "'2106-02-07 06:28:15.999999'")] {
        let mut column = CopiedColumn::row_time(b"row_end");
        column.set_target(version);
        for value in ["2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999"] {
            assert_eq!(column.literal(Some(value.as_bytes())), end.as_bytes());
        }
        assert_eq!(column.literal(Some(b"2026-11-28 13:27:54.436762")), b"'2026-11-28 13:27:54.436762'");
    }
}
