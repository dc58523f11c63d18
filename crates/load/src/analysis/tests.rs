//! Statements and what they are, from a text file: one statement a line, the rest behind `=>`.

use super::*;

fn dialect() -> Dialect {
    Dialect::mariadb(101_119)
}

/// What this server is taken to have built in.
fn functions() -> FunctionSet {
    let listed = ["concat", "unhex", "json_array"].map(|name| name.as_bytes().to_vec());
    FunctionSet::of_server(Some(&listed.into_iter().collect()))
}

fn analyzed(text: &[u8]) -> StatementInfo {
    analyze(text, &SessionFacts { dialect: dialect(), functions: &functions(), known_head: None })
}

#[test]
fn statements_are_what_the_file_says() {
    let mut cases = 0;
    let mut wrong = String::new();
    for line in include_str!("../../testdata/statements.txt").lines().filter(|line| line.contains("=>")) {
        let (statement, expected) = line.rsplit_once("=>").expect("filtered");
        let found = shown(&analyzed(statement.trim().as_bytes()));
        // A reason, and what else is said, only where the file gives it.
        if found.trim() != expected.trim() {
            wrong.push_str(&format!("{}\n  expected {}\n  found    {found}\n", statement.trim(), expected.trim()));
        }
        cases += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases > 100, "the file is read");
}

/// A statement's analysis as the file writes it.
fn shown(info: &StatementInfo) -> String {
    let names = |tables: &[NamedTable]| {
        let name = |named: &NamedTable| {
            let schema = named.schema.as_deref().map(|schema| format!("{}.", String::from_utf8_lossy(schema)));
            format!("{}{}", schema.unwrap_or_default(), String::from_utf8_lossy(&named.table))
        };
        tables.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let beyond = info.assignments.beyond_session || info.assignments.reads_beyond_session;
    let kind = match &info.kind {
        StatementKind::Rows(_) => "rows",
        StatementKind::Write { .. } => "write",
        StatementKind::TableDdl => "table_ddl",
        StatementKind::OtherDdl => "other_ddl",
        StatementKind::Set if beyond => "set beyond",
        StatementKind::Set | StatementKind::Use(_) => "set",
        StatementKind::Constant => "constant",
        StatementKind::Skip => "skip",
        StatementKind::Exclusive { .. } => "exclusive",
        StatementKind::Empty => "empty",
    };
    let mut words = vec![kind.to_owned(), names(&info.tables)];
    if let Some(changes) = &info.changes {
        words.push(format!("of {}", names(std::slice::from_ref(changes))));
    }
    if !info.references.is_empty() {
        words.push(format!("reading {}", names(&info.references)));
    }
    let is_definition = matches!(info.kind, StatementKind::TableDdl | StatementKind::OtherDdl);
    for (word, holds) in [
        ("plain", info.is(Trait::PlainDefinition) && info.kind == StatementKind::TableDdl),
        ("destroys", info.is(Trait::Destroys)),
        ("bound", info.is_session_bound() && !is_definition),
        ("several", info.is(Trait::SeveralStatements)),
        ("setval", info.is(Trait::SetsSequence)),
    ] {
        if holds {
            words.push(word.to_owned());
        }
    }
    if let Some(numbers) = info.row_numbers.filter(|_| info.kind == StatementKind::TableDdl) {
        words.push(match numbers {
            RowNumbers::Nowhere => "unnumbered".to_owned(),
            RowNumbers::Column(column) => format!("numbered {column}"),
        });
    }
    if let Some(schema) = &info.schema {
        words.push(format!("schema {}", String::from_utf8_lossy(schema)));
    }
    let mut text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if let StatementKind::Write { reason } | StatementKind::Exclusive { reason } = &info.kind
        && info.is(Trait::WritesRows)
    {
        text.push_str(&format!(": {reason}"));
    }
    if let Some(query) = info.diagnostics {
        text.push_str(", asks the statement before");
        text.push_str(if query.keeps { " and keeps it" } else { "" });
    }
    text
}

#[test]
fn every_rule_can_be_matched_by_its_own_words() {
    for rule in RULES {
        let mut words = Vec::new();
        let mut in_group = false;
        for word in rule.pattern.split(' ') {
            in_group |= word.starts_with('[');
            if !in_group {
                words.push(match word {
                    "<table>" | "<tables>" | "<name>" => "t",
                    "<locks>" => "t READ",
                    "..." => "x",
                    "$" => "",
                    word => word,
                });
            }
            in_group &= !(word.ends_with(']') || word.ends_with("]?"));
        }
        let statement = words.join(" ");
        let all: Vec<Token<'_>> = tokens(statement.as_bytes(), &dialect()).collect();
        assert!(match_pattern(rule.pattern, &all).is_some(), "{} does not match `{statement}`", rule.pattern);
    }
}

#[test]
fn any_bytes_have_an_analysis() {
    for text in [
        &b""[..],
        b"\xff\xfe",
        b"CREATE",
        b"CREATE TABLE",
        b"CREATE TABLE t (",
        b"INSERT",
        b"INSERT INTO",
        b"LOCK TABLES",
        b"SET",
        b"SET STATEMENT",
        b"'",
        b"/*!",
        b"@",
        b";",
        b"BEGIN;",
        b"CREATE FUNCTION",
        b"DROP",
        b"RENAME TABLE a TO",
        b"HANDLER",
    ] {
        let _info = analyzed(text);
    }
}

#[test]
fn a_known_head_gives_what_the_whole_text_gives() {
    let functions = functions();
    let whole = analyzed(b"INSERT INTO t (a, b) VALUES (1, 2), (3, 4)");
    let StatementKind::Rows(RowsStatement { head: Some(head), offset, values }) = whole.kind else {
        panic!("rows");
    };
    let text = b"INSERT INTO t (a, b) VALUES (5, 6), (7, 8)";
    let known_head = Some(KnownHead { text: &text[..offset], head: &head, id_value: None });
    let found = analyze(text, &SessionFacts { dialect: dialect(), functions: &functions, known_head });
    assert_eq!(found.kind, StatementKind::Rows(RowsStatement { head: None, offset, values }));
    assert_eq!((found.journal, found.traits), (whole.journal, whole.traits));
}
