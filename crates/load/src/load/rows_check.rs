//! The check of files of rows before the load: those that it selects must be there, and such that they can be split into
//! fields. For tables that the dump has rows for and does not define, the server's tables tell, or show that they need no rows.

use hortator_mysql::{Connection, Error, quote_string};

use super::Options;
use crate::analysis::NamedTable;
use crate::input::delimited::RowsFile;
use crate::input::{self, Member, Source, UndefinedTable, UnnamedCharset, UnreadableRows, is_rowless_engine};
use crate::lexer::is_ascii_safe;
use crate::planner::Names;
use crate::report::Failure;
use crate::selection::{Decision, Scope, decide};

/// What is wrong with these files. A table that is not there is left to its first statement.
pub(crate) fn check(options: &Options, connect: &dyn Fn() -> Result<Connection, Error>) -> Result<Vec<Failure>, Error> {
    let (tables, unreadable) = (options.input.undefined_tables(), options.input.unreadable_rows());
    let unnamed = options.input.unnamed_charsets();
    let broken: Vec<_> = options.input.members().iter().filter_map(broken_rows).collect();
    if tables.is_empty() && unreadable.is_empty() && unnamed.is_empty() && broken.is_empty() {
        return Ok(Vec::new());
    }
    let mut connection = connect()?;
    let found = connection.fetch(b"SELECT @@lower_case_table_names, DATABASE()")?;
    let mut values = found.into_iter().flatten();
    let folds = values.next().flatten().is_some_and(|value| value != b"0");
    let database = values.next().flatten();
    let names = Names { database: database.as_deref(), folds_case: folds, are_utf8: true };
    let is_selected = |schema: &Option<Vec<u8>>, table: &[u8]| {
        let target = NamedTable { schema: schema.clone(), table: table.to_vec() };
        let rows = Scope::Rows { target, sources: Vec::new() };
        !matches!(decide(&rows, &options.filter.selection, names), Decision::LeaveOut(_))
    };
    let mut failures = Vec::new();
    for UnreadableRows { schema, table, error } in unreadable {
        if is_selected(schema, table) {
            failures.push(Failure::of_load(error.clone()));
        }
    }
    for (RowsFile { table, .. }, error) in broken {
        if is_selected(&table.schema, &table.name) {
            failures.push(Failure::of_input(&error.into()));
        }
    }
    let mapped = |schema: &Vec<u8>| {
        let rewriting = &options.filter.rewriting;
        rewriting.mapped_schema(schema, folds).map_or_else(|| schema.clone(), <[u8]>::to_vec)
    };
    for table in unnamed.iter().filter(|table| is_selected(&table.schema, &table.table)) {
        let charset = default_charset(&mut connection, table.schema.as_ref().map(mapped).as_deref())?;
        failures.extend(refusal_of_default(table, &charset).map(Failure::of_load));
    }
    for table in tables.iter().filter(|table| is_selected(&table.schema, &table.table)) {
        let schema = table.schema.as_ref().map(mapped);
        let found = FoundTable::look_up(&mut connection, schema.as_deref(), &table.table)?;
        failures.extend(refusal(table, found.as_ref()).map(Failure::of_load));
    }
    Ok(failures)
}

/// A file of rows of a dump that is seen to be damaged without reading it.
fn broken_rows(member: &Member) -> Option<(&RowsFile, input::Error)> {
    Some((member.rows_of_dump()?, Source::measure(member.path()?).err()?))
}

/// A table or view as it is on the server.
struct FoundTable {
    /// `None` for a view.
    engine: Option<String>,
    /// The columns that are texts, each with its character set.
    charsets: Vec<(String, String)>,
    /// The longest BIT column: its name and its bits.
    bits: Option<(String, u32)>,
    /// A column whose text may be taken for its bytes, and its type.
    address: Option<(String, String)>,
    /// A column that INSERT takes no values for without naming it.
    passed_over: Option<String>,
}

impl FoundTable {
    fn look_up(connection: &mut Connection, schema: Option<&[u8]>, table: &[u8]) -> Result<Option<Self>, Error> {
        let schema = schema.map_or_else(|| b"DATABASE()".to_vec(), quote_string);
        let condition =
            [b" WHERE TABLE_SCHEMA = ".as_slice(), &schema, b" AND TABLE_NAME = ", &quote_string(table)].concat();
        let mut fetch = |select: &str, more: &str| {
            let rows = connection.fetch(&[select.as_bytes(), &condition, more.as_bytes()].concat())?;
            let text = |value: Option<Vec<u8>>| value.map(|value| String::from_utf8_lossy(&value).into_owned());
            let rows = rows.into_iter().map(|row| row.into_iter().map(text).collect::<Vec<_>>());
            Ok::<_, Error>(rows.collect::<Vec<_>>())
        };
        let tables = fetch("SELECT ENGINE FROM information_schema.TABLES", "")?;
        let Some(engine) = tables.into_iter().flatten().next() else { return Ok(None) };
        let columns = fetch(
            "SELECT COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS",
            " AND CHARACTER_SET_NAME IS NOT NULL ORDER BY ORDINAL_POSITION",
        )?;
        let charsets = columns.into_iter().filter_map(|row| {
            let mut values = row.into_iter().flatten();
            Some((values.next()?, values.next()?))
        });
        let bits = fetch(
            "SELECT COLUMN_NAME, NUMERIC_PRECISION FROM information_schema.COLUMNS",
            " AND DATA_TYPE = 'bit' ORDER BY NUMERIC_PRECISION DESC, ORDINAL_POSITION LIMIT 1",
        )?;
        let mut bits = bits.into_iter().flatten().flatten();
        let bits = bits.next().zip(bits.next().and_then(|bits| bits.parse().ok()));
        let address = fetch(
            "SELECT COLUMN_NAME, UPPER(DATA_TYPE) FROM information_schema.COLUMNS",
            " AND DATA_TYPE IN ('inet4', 'inet6', 'uuid') ORDER BY ORDINAL_POSITION LIMIT 1",
        )?;
        let mut address = address.into_iter().flatten().flatten();
        let passed_over = fetch(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS",
            " AND EXTRA REGEXP '(VIRTUAL|STORED|PERSISTENT) GENERATED|INVISIBLE' ORDER BY ORDINAL_POSITION LIMIT 1",
        )?;
        Ok(Some(Self {
            engine,
            charsets: charsets.collect(),
            bits,
            address: address.next().zip(address.next()),
            passed_over: passed_over.into_iter().flatten().flatten().next(),
        }))
    }
}

/// The default character set of a schema, or of one that the load creates.
fn default_charset(connection: &mut Connection, schema: Option<&[u8]>) -> Result<String, Error> {
    let schema = schema.map_or_else(|| b"DATABASE()".to_vec(), quote_string);
    let found = connection.fetch(
        &[
            b"SELECT COALESCE((SELECT DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ",
            &schema[..],
            b"), @@character_set_server)",
        ]
        .concat(),
    )?;
    let charset = found.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&charset).into_owned())
}

/// Why rows cannot be loaded whose texts are in this character set, which the dump does not name.
fn refusal_of_default(table: &UnnamedCharset, charset: &str) -> Option<String> {
    (!is_ascii_safe(charset)).then(|| {
        format!(
            "cannot load {}: the definition names no character set, and characters of {charset}, the default of the schema, \
             may contain separators: dump without --skip-create-options",
            table.file
        )
    })
}

/// Why the rows of a table cannot be loaded.
fn refusal(table: &UndefinedTable, found: Option<&FoundTable>) -> Option<String> {
    let file = &table.file;
    if !table.has_rows {
        let is_rowless = |engine: &String| is_rowless_engine(engine.as_bytes());
        let needs_none = found.is_some_and(|found| found.engine.as_ref().is_none_or(is_rowless));
        return (!needs_none).then(|| {
            format!(
                "cannot load {file}: it has no .txt file beside it, and is not of a view on the server: get a complete copy \
                 of the dump, or move it elsewhere"
            )
        });
    }
    let found = found?;
    let uncertain = found.charsets.iter().find(|(_, charset)| !is_ascii_safe(charset));
    let bits = found.bits.as_ref().filter(|(_, bits)| *bits > table.plain_bits);
    let what = if let Some((column, charset)) = uncertain {
        format!("column {column} of the table is in {charset}, whose characters may contain separators")
    } else if let Some((column, _)) = bits {
        format!("column {column} of the table is a BIT, whose bytes may be separators")
    } else if let Some((column, of_type)) = found.address.as_ref().filter(|_| table.are_bytes) {
        format!("column {column} of the table is of type {of_type}, whose text may be taken for its bytes")
    } else if let Some(column) = &found.passed_over {
        format!("column {column} of the table is generated or invisible")
    } else {
        return None;
    };
    Some(format!(
        "cannot load {file}: {what}, and the dump has no definition that says so of its rows: dump without \
         --no-create-info, or as SQL without --tab"
    ))
}

#[test]
fn what_is_refused() {
    let table = |has_rows| UndefinedTable {
        schema: None,
        table: b"t".to_vec(),
        file: "t".to_owned(),
        has_rows,
        are_bytes: true,
        plain_bits: 3,
    };
    let found = |engine: Option<&str>, charset: &str| FoundTable {
        engine: engine.map(str::to_owned),
        charsets: vec![("a".to_owned(), "utf8mb4".to_owned()), ("b".to_owned(), charset.to_owned())],
        bits: None,
        address: None,
        passed_over: None,
    };
    let is_refused = |has_rows, found: Option<&FoundTable>| refusal(&table(has_rows), found).is_some();
    for charset in ["sjis", "cp932", "gbk", "big5", "euckr", "gb18030", "ucs2", "utf16", "utf16le", "utf32"] {
        assert!(is_refused(true, Some(&found(Some("InnoDB"), charset))), "{charset}");
    }
    assert!(!is_refused(true, Some(&found(Some("InnoDB"), "ujis"))));
    for (bits, expected) in [(1, false), (3, false), (4, true), (8, true), (16, true)] {
        let bits = FoundTable { bits: Some(("c".to_owned(), bits)), ..found(Some("InnoDB"), "ujis") };
        assert_eq!(is_refused(true, Some(&bits)), expected);
    }
    let address = FoundTable { address: Some(("c".to_owned(), "INET6".to_owned())), ..found(Some("InnoDB"), "ujis") };
    assert!(is_refused(true, Some(&address)));
    assert_eq!(refusal(&UndefinedTable { are_bytes: false, ..table(true) }, Some(&address)), None);
    let passed_over = FoundTable { passed_over: Some("c".to_owned()), ..found(Some("InnoDB"), "ujis") };
    assert!(is_refused(true, Some(&passed_over)));
    assert!(!is_refused(true, None));
    assert!(!is_refused(false, Some(&found(None, "ujis"))));
    assert!(!is_refused(false, Some(&found(Some("MRG_MyISAM"), "ujis"))));
    assert!(is_refused(false, Some(&found(Some("InnoDB"), "ujis"))));
    assert!(is_refused(false, None));
}
