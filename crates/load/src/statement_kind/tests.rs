//! Statements and their kinds, from a text file: one statement a line, its kind behind `=>`.

use super::*;

#[test]
fn statements_have_their_kind() {
    let dialect = Dialect::mariadb(101_119);
    let mut cases = 0;
    for line in include_str!("../../testdata/statement_kinds.txt").lines().filter(|line| line.contains("=>")) {
        let (statement, expected) = line.rsplit_once("=>").expect("filtered");
        let found = shown(&classify(statement.trim().as_bytes(), &dialect));
        assert_eq!(found, expected.trim(), "{statement}");
        cases += 1;
    }
    assert!(cases > 60, "the file is read");
}

/// A kind as the file writes it.
fn shown(kind: &StatementKind) -> String {
    let names = |tables: &[NamedTable]| {
        let names: Vec<String> = tables
            .iter()
            .map(|named| {
                let schema = named.schema.as_deref().map(|schema| format!("{}.", String::from_utf8_lossy(schema)));
                format!("{}{}", schema.unwrap_or_default(), String::from_utf8_lossy(&named.table))
            })
            .collect();
        names.join(" ")
    };
    match kind {
        StatementKind::Rows(head) => {
            format!("rows {}", names(&[NamedTable { schema: head.schema.clone(), table: head.table.clone() }]))
        }
        StatementKind::TableDdl { tables, references } if references.is_empty() => {
            format!("table_ddl {}", names(tables))
        }
        StatementKind::TableDdl { tables, references } => {
            format!("table_ddl {} reading {}", names(tables), names(references))
        }
        StatementKind::OtherDdl { tables } => format!("other_ddl {}", names(tables)).trim().to_owned(),
        StatementKind::Session => "session".to_owned(),
        StatementKind::Constant => "constant".to_owned(),
        StatementKind::Skip { tables } => format!("skip {}", names(tables)).trim().to_owned(),
        StatementKind::Barrier { .. } => "barrier".to_owned(),
        StatementKind::Empty => "empty".to_owned(),
    }
}

#[test]
fn every_rule_can_be_matched_by_its_own_words() {
    for rule in RULES {
        let words: Vec<&str> = rule
            .pattern
            .split(' ')
            .filter(|word| !word.starts_with('[') && !word.ends_with(']'))
            .map(|word| match word {
                "<table>" | "<tables>" | "<name>" => "t",
                "..." => "x",
                word => word,
            })
            .collect();
        let statement = words.join(" ");
        let dialect = Dialect::mariadb(101_119);
        let leading: Vec<Token<'_>> = tokens(statement.as_bytes(), &dialect).collect();
        assert!(matches(rule.pattern, &leading).is_some(), "{} does not match `{statement}`", rule.pattern);
    }
}

#[test]
fn any_bytes_have_a_kind() {
    let dialect = Dialect::mariadb(101_119);
    for text in [
        &b""[..],
        b"\xff\xfe",
        b"CREATE",
        b"CREATE TABLE",
        b"INSERT",
        b"INSERT INTO",
        b"LOCK TABLES",
        b"SET",
        b"'",
        b"/*!",
        b"@",
    ] {
        let _class = classify(text, &dialect);
    }
}
