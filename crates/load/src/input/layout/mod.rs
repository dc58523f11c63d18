//! What the files and folders of a command line are: from names and metadata to an ordered list of members.
//!
//! One module for each layout. Each decides from the names in a folder, and from the small files that describe the
//! others; it opens no data. What it is not certain of is an error that names the file: nothing in a folder is passed
//! over without a word.

mod error;
mod folder;
mod load_data;
mod mydumper;
mod pattern;
mod rows;
mod shell;
mod sql_folder;
mod tab;

use std::path::{Path, PathBuf};

use hortator_mysql::catalog::TableName;

use super::{Content, Member};
pub use error::Error;
use folder::Folder;
pub use rows::{RowsColumns, RowsKind, RowsOptions, column_names};
pub(crate) use tab::is_rowless_engine;

/// The input of a load.
#[derive(Clone, Debug, Default)]
pub struct Input {
    members: Vec<Member>,
    parts: Vec<InputPart>,
    /// Those of its parts that are folders.
    folders: Vec<PathBuf>,
    counted_tables: Vec<CountedTable>,
    undefined_tables: Vec<UndefinedTable>,
    unreadable_rows: Vec<UnreadableRows>,
    unnamed_charsets: Vec<UnnamedCharset>,
}

/// A file of rows that is missing, or cannot be split into fields: a load of its rows is refused, and one that leaves them out
/// is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadableRows {
    /// `None` for the schema of the session.
    pub(crate) schema: Option<Vec<u8>>,
    pub(crate) table: Vec<u8>,
    /// Why, for messages.
    pub(crate) error: String,
}

/// A table whose texts are in the default character set of its schema, because its definition names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnnamedCharset {
    /// `None` for the schema of the session.
    pub(crate) schema: Option<Vec<u8>>,
    pub(crate) table: Vec<u8>,
    /// The file of its rows, for messages.
    pub(crate) file: String,
}

/// A table that a dump without definitions has a file of: what it is, and how its rows are to be read, only the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndefinedTable {
    /// `None` for the schema of the session.
    pub(crate) schema: Option<Vec<u8>>,
    pub(crate) table: Vec<u8>,
    /// Its file, for messages.
    pub(crate) file: String,
    /// Whether the dump has a file of its rows.
    pub(crate) has_rows: bool,
    /// The rows are read as bytes, not as texts of one character set.
    pub(crate) are_bytes: bool,
    /// The longest BIT whose values look like no separator.
    pub(crate) plain_bits: u32,
}

/// A new table whose rows the dump has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedTable {
    pub(crate) name: TableName,
    pub(crate) rows: u64,
}

/// A file or folder as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPart {
    /// Its name, without the folder that it is in; `-` is standard input.
    pub name: String,
    /// Its size as stored, or that of all files of a folder; `None` for a pipe.
    pub size_bytes: Option<u64>,
}

impl Input {
    /// Of files, folders and patterns, in this order; none, or `-`, is standard input.
    ///
    /// # Errors
    /// Where a folder is not certain to be a dump of a known layout, or it is not certain how to read a file of rows.
    pub fn new(paths: &[PathBuf], rows: &RowsOptions) -> Result<Self, Error> {
        let standard_input = [PathBuf::from("-")];
        let mut input = Self::default();
        for path in if paths.is_empty() { &standard_input[..] } else { paths } {
            if path.is_dir() && rows.table.is_none() {
                let folder = Folder::list(path)?;
                input.parts.push(InputPart::of_folder(path, &folder));
                input.folders.push(path.clone());
                let found = layout(&folder, rows)?;
                input.members.extend(found.members);
                input.counted_tables.extend(found.counted_tables);
                input.undefined_tables.extend(found.undefined_tables);
                input.unreadable_rows.extend(found.unreadable_rows);
                input.unnamed_charsets.extend(found.unnamed_charsets);
            } else if path.exists() || !pattern::is_pattern(path) {
                input.push_file(path, rows)?;
            } else {
                pattern::matches(path)?.iter().try_for_each(|file| input.push_file(file, rows))?;
            }
        }
        let has_rows = input.members.iter().any(|member| matches!(member.content, Content::Rows(_)))
            || !input.unreadable_rows.is_empty();
        if rows.describes_files() && !has_rows { Err(Error::NoRows) } else { Ok(input) }
    }

    /// Whether a file is, or would be, in one of its folders.
    #[must_use]
    pub(crate) fn has_folder_of(&self, file: &Path) -> bool {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(parent) = parent.canonicalize() else { return false };
        self.folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder)))
    }

    fn push_file(&mut self, path: &Path, rows: &RowsOptions) -> Result<(), Error> {
        let mut part = InputPart::of_file(path);
        match &rows.table {
            Some(table) => {
                // The same file for another table is another load.
                part.name = format!("{} (table {table})", part.name);
                self.members.extend(rows.members(table, path)?);
            }
            None => self.members.push(Member::file(path)),
        }
        self.parts.push(part);
        Ok(())
    }

    /// What it consists of, in order.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What the user has named.
    #[must_use]
    pub fn parts(&self) -> &[InputPart] {
        &self.parts
    }

    /// The tables whose rows the dump has counted.
    pub(crate) fn counted_tables(&self) -> &[CountedTable] {
        &self.counted_tables
    }

    /// The tables of dumps without definitions.
    pub(crate) fn undefined_tables(&self) -> &[UndefinedTable] {
        &self.undefined_tables
    }

    /// The files of rows that cannot be read.
    pub(crate) fn unreadable_rows(&self) -> &[UnreadableRows] {
        &self.unreadable_rows
    }

    /// The tables whose definitions name no character set for their texts.
    pub(crate) fn unnamed_charsets(&self) -> &[UnnamedCharset] {
        &self.unnamed_charsets
    }

    /// Whether it can be read a second time: a pipe cannot.
    pub(crate) fn can_be_read_again(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.size_bytes.is_some())
    }
}

impl InputPart {
    fn of_file(path: &Path) -> Self {
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
        Self { name: base_name(path), size_bytes: size }
    }

    fn of_folder(path: &Path, folder: &Folder) -> Self {
        // A relative path such as `.` has no name of its own.
        let name = path.canonicalize().map_or_else(|_| base_name(path), |path| base_name(&path));
        let size = folder.size_bytes();
        Self { name: format!("{name}/ ({} files)", folder.file_count()), size_bytes: Some(size) }
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What a folder is.
#[derive(Debug, Default)]
struct Layout {
    members: Vec<Member>,
    counted_tables: Vec<CountedTable>,
    undefined_tables: Vec<UndefinedTable>,
    unreadable_rows: Vec<UnreadableRows>,
    unnamed_charsets: Vec<UnnamedCharset>,
}

impl Layout {
    fn of_members(members: Vec<Member>) -> Self {
        Self { members, ..Self::default() }
    }
}

/// What a folder is, by the names in it.
fn layout(folder: &Folder, rows: &RowsOptions) -> Result<Layout, Error> {
    folder.refuse_twins()?;
    let (is_mydumper, is_shell) = (mydumper::is_layout(folder), shell::is_layout(folder));
    match (is_mydumper, is_shell) {
        (true, true) => {
            Err(Error::Mixed { folder: folder.shown(), first: mydumper::METADATA, second: shell::DESCRIPTION })
        }
        (true, false) => mydumper::layout(folder),
        (false, true) => shell::members(folder).map(Layout::of_members),
        (false, false) if tab::is_layout(folder)? => tab::layout(folder, rows),
        (false, false) => sql_folder::members(folder).map(Layout::of_members),
    }
}

#[cfg(test)]
mod tests;
