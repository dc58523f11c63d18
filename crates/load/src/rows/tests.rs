//! What is a literal, what a survey sees, and the bytes of an array, from small cases.

use hortator_mysql::catalog::{Column, ColumnKind};

use super::*;
use crate::analysis::{FunctionSet, SessionFacts};
use crate::lexer::{Dialect, tokens};

fn dialect() -> Dialect {
    Dialect::mariadb(101_119)
}

fn kinds(text: &str) -> Result<Vec<Vec<LiteralKind>>, NotLiteral> {
    let mut tuples = Tuples::default();
    scan(text.as_bytes(), 0, &dialect(), &mut tuples)?;
    Ok(tuples.literals.chunks(tuples.width()).map(|row| row.iter().map(|literal| literal.kind).collect()).collect())
}

#[test]
fn each_kind_of_literal_is_known() {
    use LiteralKind as L;
    for (text, expected) in [
        ("(1,-2, 0 ,9223372036854775807)", vec![L::Signed; 4]),
        ("(9223372036854775808,18446744073709551615)", vec![L::Unsigned; 2]),
        ("(1.5,.5,1.,-1.5,18446744073709551616)", vec![L::Decimal; 5]),
        ("(1e5,1.5E-3,-2e+7,.1e1)", vec![L::Float; 4]),
        ("('','a','ü','(,)',\"it's\")", vec![L::Plain; 5]),
        (r"('it''s','a\'b','\\','\n')", vec![L::Escaped; 4]),
        ("(_binary 'a',_BINARY'b')", vec![L::BinaryPlain; 2]),
        (r"(_binary 'a\0')", vec![L::BinaryEscaped]),
        ("(0x00ff,x'Ab',X'')", vec![L::Hex; 3]),
        ("(b'101',B'1')", vec![L::Bits; 2]),
        ("(NULL,null)", vec![L::Null; 2]),
        ("(DEFAULT)", vec![L::Default]),
    ] {
        assert_eq!(kinds(text), Ok(vec![expected]), "{text}");
    }
    assert_eq!(kinds("(1,'a'),\n(2,NULL)").map(|rows| rows.len()), Ok(2));
}

#[test]
fn what_needs_evaluation_is_no_literal() {
    for text in [
        "(1+1)",
        "(- 5)",
        "(--5)",
        "(+1)",
        "(NOW())",
        "(TRUE)",
        "(@a)",
        "('a' 'b')",
        "('a' COLLATE utf8mb4_bin)",
        "(1 -- x\n)",
        "(/* x */ 1)",
        "(NULLX)",
        "(`a`)",
        "(_latin1 'a')",
        "(N'a')",
        "(0xabc)",
        "(1) ON DUPLICATE KEY UPDATE a=1",
        "(1,2),(1)",
        "(1",
        "",
        "()",
        "('a",
        "(1a)",
        "(1.5.5)",
        "(1e)",
        "(-9223372036854775808)",
        "(-18446744073709551616)",
        "(1),",
        "(1) (2)",
        "(x'a')",
        "(b'2')",
    ] {
        assert_eq!(kinds(text), Err(NotLiteral), "{text}");
    }
}

#[test]
fn sql_modes_change_what_quotes_and_backslashes_are() {
    let mut tuples = Tuples::default();
    let ansi = Dialect { ansi_quotes: true, ..dialect() };
    assert_eq!(scan(br#"("a")"#, 0, &ansi, &mut tuples), Err(NotLiteral));
    let plain_backslash = Dialect { no_backslash_escapes: true, ..dialect() };
    scan(br"('a\','b''c')", 0, &plain_backslash, &mut tuples).expect("two strings");
    assert_eq!(tuples.literals[0].content(br"('a\','b''c')"), br"a\");
}

#[test]
fn a_survey_tells_rows_ids_suffixes_and_expressions() {
    let look = |text: &str, id| {
        prescan(
            text.as_bytes(),
            0,
            id,
            &SessionFacts { dialect: dialect(), functions: &FunctionSet::all(), known_head: None },
        )
    };
    let rows = |rows| Prescan { rows, id_value: Some(0), ..Prescan::default() };
    assert_eq!(look(" (1,'a;)'),(2,'(')", Some(0)), Ok(rows(2)));
    assert_eq!(look("('7',1)", Some(0)), Ok(rows(1)));
    for implicit in ["(NULL,1)", "(0,1)", "(DEFAULT,1)", "('',1)", "('0',1)", "(3,1),(NULL,2)", "()"] {
        assert!(look(implicit, Some(0)).is_ok_and(|found| found.implicit_id), "{implicit}");
    }
    assert!(look("(1),(2) ON DUPLICATE KEY UPDATE a=VALUES(a)", None).is_ok_and(|found| found.suffix.is_some()));
    assert!(look("(1) RETURNING a", None).is_ok_and(|found| found.suffix.is_some()));
    for expression in
        ["(NOW())", "(1,ST_GeomFromText('POINT(1 1)'))", "(TRUE)", "(_latin1'a')", "(1+1)", "(CURRENT_TIMESTAMP)"]
    {
        let found = look(expression, None);
        assert!(expression == "(1+1)" || found.is_ok_and(|found| found.has_expression), "{expression}: {found:?}");
    }
    for reads in [
        "((SELECT MAX(a) FROM t))",
        "(@a)",
        "(LAST_INSERT_ID())",
        "(f(1))",
        "(RAND())",
        "(UUID())",
        "(NEXTVAL(s))",
        "(NEXT VALUE FOR s)",
        "(a)",
        "(`a`)",
        "SELECT 1",
        "(1",
        "(1),",
        "(1)(2)",
        "(1 /* c */)",
    ] {
        assert_eq!(look(reads, None), Err(NotLiteral), "{reads}");
    }
}

#[test]
fn the_head_of_an_insert_is_read() {
    let head = |text: &'static str, replace| {
        let dialect = dialect();
        let mut all = tokens(text.as_bytes(), &dialect);
        all.next();
        insert_head(replace, all)
    };
    let text = "INSERT IGNORE INTO `a``b`.`c` PARTITION (p0, p1) (`x`, y) VALUES (1,2)";
    let found = head(text, false).expect("a known form");
    assert_eq!(
        (found.verb, found.schema.as_deref(), &found.table[..]),
        (InsertVerb::InsertIgnore, Some(&b"a`b"[..]), &b"c"[..])
    );
    assert_eq!(found.columns, Some(vec![b"x".to_vec(), b"y".to_vec()]));
    assert_eq!(found.source, RowSource::Values { offset: text.len() - " (1,2)".len() });
    assert_eq!(head("INSERT t SET a=1", false).map(|head| head.source), Some(RowSource::Other));
    assert_eq!(head("REPLACE INTO t VALUE (1)", true).map(|head| head.verb), Some(InsertVerb::Replace));
    assert_eq!(head("INSERT INTO t (SELECT 1)", false).map(|head| head.source), None);
}

fn column(kind: ColumnKind) -> Column {
    Column {
        name: b"c".to_vec(),
        kind,
        nullable: true,
        has_default: true,
        draws_from_sequence: false,
        default_varies: false,
        default_reads_session: false,
        names_variable: false,
        fixed_at_open: false,
        generated: false,
        invisible: false,
        auto_increment: false,
    }
}

/// The array of one column's values behind its statement id: type, flags and rows.
fn array(kind: ColumnKind, tuples: &str) -> Result<Vec<u8>, Inexact> {
    encoded(&column(kind), tuples)
}

fn encoded(column: &Column, text: &str) -> Result<Vec<u8>, Inexact> {
    let mut tuples = Tuples::default();
    scan(text.as_bytes(), 0, &dialect(), &mut tuples).expect("literals");
    let mut command = Vec::new();
    let types = wire_types(text.as_bytes(), &tuples, &[column])?;
    encode_bulk_execute(text.as_bytes(), &tuples, &types, &dialect(), 7, &mut command)?;
    assert_eq!(command[..7], [0xfa, 7, 0, 0, 0, 128, 0], "command, statement, flags");
    Ok(command[7..].to_vec())
}

#[test]
fn arrays_have_the_narrowest_exact_type() {
    use ColumnKind as C;
    for (kind, tuples, expected) in [
        (C::Integer, "(1),(-1),(NULL),(DEFAULT)", &[1, 0, 0, 1, 0, 255, 1, 2][..]),
        (C::Integer, "(300)", &[2, 0, 0, 44, 1]),
        (C::Integer, "(70000)", &[3, 0, 0, 0x70, 0x11, 1, 0]),
        (C::Integer, "(18446744073709551615)", &[8, 128, 0, 255, 255, 255, 255, 255, 255, 255, 255]),
        (C::Text, "('ab'),('')", &[0xfd, 0, 0, 2, b'a', b'b', 0, 0]),
        (C::Text, r"('a\n\'\%\Z\x')", &[0xfd, 0, 0, 7, b'a', b'\n', b'\'', b'\\', b'%', 0x1a, b'x']),
        (C::Bytes, "(0x00ff),(_binary 'a')", &[0xfc, 0, 0, 2, 0, 255, 0, 1, b'a']),
        (C::Bytes, "(0x61),('')", &[0xfc, 0, 0, 1, b'a', 0, 0]),
        (C::Decimal, "(1.50),(2)", &[0xf6, 0, 0, 4, b'1', b'.', b'5', b'0', 0, 1, b'2']),
        (C::Real, "(1.5)", &[5, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]),
        (C::Date, "('2024-02-29')", &[0x0a, 0, 0, 4, 0xe8, 7, 2, 29]),
        (C::Date, "('2023-02-29')", &[0xfd, 0, 0, 10, b'2', b'0', b'2', b'3', b'-', b'0', b'2', b'-', b'2', b'9']),
        (C::DateTime, "('2024-01-02 03:04:05')", &[0x0c, 0, 0, 7, 0xe8, 7, 1, 2, 3, 4, 5]),
        (C::DateTime, "('2024-01-02 00:00:00.5')", &[0x0c, 0, 0, 11, 0xe8, 7, 1, 2, 0, 0, 0, 0x20, 0xa1, 7, 0]),
        (C::Bit, "(b'101')", &[8, 128, 0, 5, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        assert_eq!(array(kind, tuples).as_deref(), Ok(expected), "{kind:?} {tuples}");
    }
}

#[test]
fn what_an_array_might_store_differently_travels_as_written() {
    use ColumnKind as C;
    for (kind, tuples) in [
        (C::Text, "(1.5)"),
        (C::Text, "(0x61)"),
        (C::Text, "('a'),(1)"),
        (C::Integer, "(1.5)"),
        (C::Integer, "(1e3)"),
        (C::Integer, "(0x10)"),
        (C::Integer, "(-1),(18446744073709551615)"),
        (C::Decimal, "(1e3)"),
        (C::Bytes, "(0x61),('a')"),
    ] {
        assert_eq!(array(kind, tuples), Err(Inexact), "{kind:?} {tuples}");
    }
    // Every row of an array counts as a single-row insert, which refuses what a many-row one bends.
    let strict = Column { nullable: false, has_default: false, ..column(C::Integer) };
    assert_eq!(encoded(&strict, "(1),(NULL)"), Err(Inexact));
    assert_eq!(encoded(&strict, "(1),(DEFAULT)"), Err(Inexact));
    let generated = Column { generated: true, ..column(C::Integer) };
    assert_eq!(encoded(&generated, "(1)"), Err(Inexact));
}

#[test]
fn a_piece_is_some_of_the_rows() {
    let text = "(1,'a'),(NULL,'b'),\n (3,NULL),(4,DEFAULT)";
    let mut tuples = Tuples::default();
    scan(text.as_bytes(), 0, &dialect(), &mut tuples).expect("literals");
    let (number, word) = (column(ColumnKind::Integer), column(ColumnKind::Text));
    let types = wire_types(text.as_bytes(), &tuples, &[&number, &word]).expect("types");
    let mut command = vec![9; 99];
    let mut piece = |rows| encode_batch(text.as_bytes(), &tuples, rows, &types, &dialect(), 7, &mut command);
    assert_eq!(piece(2..4), Err(Inexact), "the protocol has no DEFAULT");
    assert_eq!(piece(1..3), Ok(()));
    let head = [0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0];
    let (nulls, types) = ([0b1001, 1], [1, 0, 0xfd, 0, 1, 0, 0xfd, 0]);
    assert_eq!(command, [&head[..], &nulls, &types, &[1, b'b', 3]].concat());
    assert_eq!(&text[tuples.start(2)..tuples.start(3)], "(3,NULL),");
    assert_eq!(tuples.rows(), 4);
}

#[test]
fn lengths_are_encoded_in_all_widths() {
    for (length, prefix) in [(250, 1), (251, 3), (65_535, 3), (65_536, 4), (16_777_216, 9)] {
        let mut out = Vec::new();
        wire::lenenc_prefix(length, &mut out);
        assert_eq!(out.len(), prefix, "{length}");
    }
}
