//! Why a file or folder of a command line is not taken for an input.

use std::io;

use super::folder::Folder;
use crate::input;
use crate::input::delimited::FormatError;

/// How many files a message names.
const NAMED_LIMIT: usize = 5;

/// Why the input of a load is not certain.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder cannot be listed.
    #[error("cannot list {folder}: {cause}")]
    List {
        /// The folder.
        folder: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// A file that describes the others cannot be read.
    #[error(transparent)]
    Read(#[from] input::Error),
    /// A file that describes the others is larger than any of its kind.
    #[error("{file} is larger than {limit_bytes} bytes, which a file of its kind is not: is it the right file?")]
    TooLarge {
        /// The file.
        file: String,
        /// The limit.
        limit_bytes: usize,
    },
    /// Nothing in it is of a dump.
    #[error("{folder} holds no file of a dump: name a folder with .sql files, or one of a dump tool's")]
    Empty {
        /// The folder.
        folder: String,
    },
    /// A pattern that no file matches.
    #[error("no file matches {pattern}")]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// A name that the layout cannot have.
    #[error("{folder} holds a file whose name is not UTF-8 ({name}): rename it")]
    Name {
        /// The folder.
        folder: String,
        /// The name, as far as it can be shown.
        name: String,
    },
    /// Files that belong to no dump of this layout.
    #[error("{folder} is {layout}, but holds what is no part of one: {}. Hortator passes nothing over: move it elsewhere", some(.names))]
    Strange {
        /// The folder.
        folder: String,
        /// What it else is.
        layout: &'static str,
        /// The names.
        names: Vec<String>,
    },
    /// A file that is there plain and compressed.
    #[error("{folder} holds {first} and {second}, which are one file of a dump: move one of them elsewhere")]
    Twice {
        /// The folder.
        folder: String,
        /// One of the names.
        first: String,
        /// The other.
        second: String,
    },
    /// A folder where files of rows are asked for.
    #[error("{folder} is a folder, but --table is for files of rows: name the files, or leave --table out for a dump")]
    FolderOfRows {
        /// The folder.
        folder: String,
    },
    /// A file of rows in a format that its name does not tell.
    #[error("it is not certain how to read {file}: add --format=csv or --format=tsv")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// Options for rows, and no file of rows.
    #[error("the options for rows need a file of rows: add --table, or name a folder of mariadb-dump --tab")]
    NoRows,
    /// A format in which NULL is no value of its own.
    #[error(
        "{folder}: without an escape character and without quotes, NULL cannot be told from the text NULL: say with \
         --null how it is written"
    )]
    AmbiguousNull {
        /// The folder.
        folder: String,
    },
    /// Files of two layouts in one folder.
    #[error(
        "{folder} mixes two dumps: {first} is of mydumper, {second} is of MySQL Shell. Move each dump to a folder of its own"
    )]
    Mixed {
        /// The folder.
        folder: String,
        /// What one is known by.
        first: &'static str,
        /// What the other is known by.
        second: &'static str,
    },
    /// A name that is none of a table.
    #[error("{table:?} is not the name of a table: write table, schema.table, or `schema`.`table`")]
    Table {
        /// The name.
        table: String,
    },
    /// Separators that no file can be read by.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A dump that its tool has not finished.
    #[error("{folder} is an incomplete dump: {reason}")]
    Incomplete {
        /// The folder.
        folder: String,
        /// What tells.
        reason: String,
    },
    /// A file that the dump must have.
    #[error("{folder} lacks the file {file} ({because}): get a complete copy of the dump")]
    Missing {
        /// The folder.
        folder: String,
        /// The file.
        file: String,
        /// What asks for it.
        because: String,
    },
    /// A file of a dump that is not understood.
    #[error("cannot load {file}: {reason}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is not understood.
        reason: String,
    },
}

impl Error {
    pub(super) fn incomplete(folder: &Folder, reason: &str) -> Self {
        Self::Incomplete { folder: folder.shown(), reason: reason.to_owned() }
    }

    pub(super) fn missing(folder: &Folder, file: &str, because: &str) -> Self {
        Self::Missing { folder: folder.shown(), file: file.to_owned(), because: because.to_owned() }
    }

    pub(super) fn unsupported(folder: &Folder, file: &str, reason: String) -> Self {
        Self::Unsupported { file: folder.path_of(file).display().to_string(), reason }
    }
}

/// The first of these names, and how many more there are.
fn some(names: &[String]) -> String {
    let first = names.iter().take(NAMED_LIMIT).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_LIMIT) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
