//! Rows found in text, and values that are the same though they are written otherwise.

use hortator_mysql::catalog::ColumnKind;

use super::{RowTexts, stands_for};
use crate::lexer::Dialect;

fn dialect() -> Dialect {
    Dialect::mariadb(101_119)
}

#[test]
fn rows_begin_at_their_parentheses() {
    let text = b"INSERT INTO t VALUES\n(1,'a,(b)\\'',NULL) ,\n(f(1,2), \"x)\" , -3)";
    let dialect = dialect();
    let rows: Vec<_> = RowTexts::new(text, 20, &dialect).collect();
    let values = |row: usize| rows[row].values.iter().map(|value| String::from_utf8_lossy(value)).collect::<Vec<_>>();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].offset, values(0)), (21, vec!["1".into(), "'a,(b)\\''".into(), "NULL".into()]));
    assert_eq!(values(1), ["f(1,2)", "\"x)\"", "-3"]);
    assert_eq!(text[rows[1].offset], b'(');
}

#[test]
fn a_row_that_is_cut_off_is_none() {
    let dialect = dialect();
    assert_eq!(RowTexts::new(b"(1,2),(3,'", 0, &dialect).count(), 1);
    assert_eq!(RowTexts::new(b"SELECT 1", 0, &dialect).count(), 0);
}

#[test]
fn values_are_compared_as_their_column_stores_them() {
    use ColumnKind::{Bytes, Date, Decimal, Integer, Text};
    for (written, stored, kind, same) in [
        ("7", "7", Integer, true),
        ("'007'", "7", Integer, true),
        ("-0", "0", Integer, true),
        ("+7", "7", Integer, true),
        ("70", "7", Integer, false),
        ("7e0", "7", Integer, false),
        ("1.50", "1.5000", Decimal, true),
        ("'it''s'", "it's", Text, true),
        ("'a\\nb'", "a\nb", Text, true),
        ("'a  '", "a", Text, true),
        ("'1.0'", "1", Text, false),
        ("'a' 'b'", "a", Text, false),
        ("_binary 'ab\\0'", "ab", Bytes, true),
        ("0x6162", "ab", Bytes, true),
        ("X'6162'", "ab", Bytes, true),
        ("'2024-01-02'", "2024-01-02", Date, true),
        ("NULL", "NULL", Text, false),
        ("f(7)", "7", Integer, false),
    ] {
        assert_eq!(stands_for(written.as_bytes(), Some(stored.as_bytes()), kind, &dialect()), same, "{written}");
    }
    assert!(stands_for(b"null", None, Integer, &dialect()));
    assert!(!stands_for(b"0", None, Integer, &dialect()));
}
