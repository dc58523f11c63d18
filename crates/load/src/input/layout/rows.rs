//! Files of rows for a table that the user names: CSV, or tab-separated as LOAD DATA has it.

use std::path::Path;

use super::{Error, Member};
use crate::input::delimited::{Columns, Field, Format, RowsFile, RowsTable, Separators};
use crate::input::plain_name;

/// The mode in which rows are inserted. Values are checked as with a server's own default modes, whatever the server has set;
/// 0 in an AUTO_INCREMENT column is 0.
const SETTINGS: &[u8] = b"SET sql_mode='STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
    NO_AUTO_VALUE_ON_ZERO';\n";

/// How files of rows are to be read.
#[derive(Clone, Debug, Default)]
pub struct RowsOptions {
    /// The table of all files: `table` or `schema.table`. Without one, files are SQL.
    pub table: Option<String>,
    /// Which columns the fields go to.
    pub columns: RowsColumns,
    /// The format; without one, the end of a file's name tells.
    pub kind: Option<RowsKind>,
    /// What differs from the format.
    pub separators: Separators,
    /// Lines to pass at the beginning of each file.
    pub ignored_lines: u64,
    /// The character set of the connection, which the rows of a dump are in whose files name none; empty and utf8mb4: each
    /// column has its own.
    pub charset: String,
}

/// Which columns the fields of a file go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowsColumns {
    /// All of the table.
    #[default]
    All,
    /// The first record of each file names them.
    Header,
    /// These.
    Named(Vec<String>),
}

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsKind {
    /// RFC 4180.
    Csv,
    /// As LOAD DATA without options reads it.
    Tsv,
}

impl RowsKind {
    /// By the end of a name.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let plain = plain_name(&name);
        let is = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
        if is(&[".csv"]) {
            Some(Self::Csv)
        } else if is(&[".tsv", ".tab", ".txt"]) {
            Some(Self::Tsv)
        } else {
            None
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Csv => Format::csv(),
            Self::Tsv => Format::load_data(),
        }
    }
}

impl RowsOptions {
    /// Whether they say how a file of rows is written.
    pub(super) fn describes_files(&self) -> bool {
        self.separators != Separators::default() || self.ignored_lines > 0 || self.columns != RowsColumns::All
    }

    /// The members for one file of rows.
    pub(super) fn members(&self, table: &str, path: &Path) -> Result<[Member; 2], Error> {
        let shown = path.display().to_string();
        if path.is_dir() {
            return Err(Error::FolderOfRows { folder: shown });
        }
        let kind =
            self.kind.or_else(|| RowsKind::of(path)).ok_or_else(|| Error::UnknownFormat { file: shown.clone() })?;
        let columns = match &self.columns {
            RowsColumns::All => Columns::All,
            RowsColumns::Header => Columns::Header,
            RowsColumns::Named(names) => {
                Columns::Named(names.iter().map(|name| Field::plain(name.as_bytes())).collect())
            }
        };
        let rows = RowsFile {
            path: path.to_owned(),
            table: table_of(table).ok_or_else(|| Error::Table { table: table.to_owned() })?,
            columns,
            format: kind.format().with(&self.separators)?,
            ignored_lines: self.ignored_lines,
            is_defined: false,
            unreadable: None,
        };
        Ok([Member::settings(&shown, SETTINGS.to_vec()), Member::rows(rows)])
    }
}

/// The table of a command line: `table`, `schema.table`, each in backticks where it contains a dot.
fn table_of(name: &str) -> Option<RowsTable> {
    let (first, rest) = part(name)?;
    if rest.is_empty() {
        return Some(RowsTable { schema: None, name: first.into_bytes() });
    }
    let (second, rest) = part(rest.strip_prefix('.')?)?;
    rest.is_empty().then(|| RowsTable { schema: Some(first.into_bytes()), name: second.into_bytes() })
}

/// One part of a name, and what follows it.
fn part(name: &str) -> Option<(String, &str)> {
    let Some(quoted) = name.strip_prefix('`') else {
        let end = name.find('.').unwrap_or(name.len());
        return (end > 0).then(|| (name[..end].to_owned(), &name[end..]));
    };
    let mut from = 0;
    loop {
        let end = from + quoted[from..].find('`')?;
        if !quoted[end + 1..].starts_with('`') {
            return (end > 0).then(|| (quoted[..end].replace("``", "`"), &quoted[end + 1..]));
        }
        from = end + 2;
    }
}

/// The columns that a list on the command line names.
#[must_use]
pub fn column_names(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = list.trim_start();
    loop {
        // A dot is part of a name here: columns have no schema.
        let (name, more) = if rest.starts_with('`') {
            part(rest)?
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim_end().to_owned(), &rest[end..])
        };
        if name.is_empty() {
            return None;
        }
        names.push(name);
        match more.trim_start() {
            "" => return Some(names),
            more => rest = more.strip_prefix(',')?.trim_start(),
        }
    }
}

#[test]
fn names_of_tables_and_columns() {
    let quoted = |name| table_of(name).map(|table| String::from_utf8(table.quoted()).unwrap_or_default());
    assert_eq!(quoted("t").as_deref(), Some("`t`"));
    assert_eq!(quoted("d.t").as_deref(), Some("`d`.`t`"));
    assert_eq!(quoted("`my.d`.`a``b`").as_deref(), Some("`my.d`.`a``b`"));
    assert_eq!(quoted("a`b").as_deref(), Some("`a``b`"));
    for wrong in ["", ".", "d.", ".t", "a.b.c", "`a", "`a`b", "``"] {
        assert_eq!(quoted(wrong), None, "{wrong}");
    }
    assert_eq!(column_names(" a, `b,c` ,d.e"), Some(vec!["a".to_owned(), "b,c".to_owned(), "d.e".to_owned()]));
    for wrong in ["", "a,", ",a", "`a", "`a` b"] {
        assert_eq!(column_names(wrong), None, "{wrong}");
    }
}
