//! What the input of a load is: an ordered list of members. A member is a file of SQL, a text of Hortator's own, or a file
//! of rows that become INSERT statements.
//!
//! `layout` makes the list from the names in a folder, and the lexer reads it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::delimited::RowsFile;
use super::{Position, STANDARD_INPUT};

/// One part of an input. The session goes on from member to member; each one starts with the client's delimiter and
/// character set.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) content: Content,
}

/// Where the statements of a member come from.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// SQL from standard input.
    StandardInput,
    /// SQL from a file.
    File {
        path: PathBuf,
        /// What ends a statement; `None` for the client's default.
        delimiter: Option<&'static [u8]>,
        /// Statements that run behind the SETs that the file begins with, where those set `sql_mode`.
        behind_sets: Option<Arc<[u8]>>,
    },
    /// SQL that is known already: settings that a layout needs, or a part of a file.
    Text {
        name: Arc<str>,
        text: Arc<[u8]>,
        /// Where the text begins in its file.
        start: Position,
    },
    /// Rows.
    Rows(Arc<RowsFile>),
}

impl Member {
    /// A file of SQL; `-` is standard input.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        if path == Path::new("-") {
            return Self { content: Content::StandardInput };
        }
        Self { content: Content::File { path, delimiter: None, behind_sets: None } }
    }

    /// A file of SQL whose statements end with these bytes.
    pub(super) fn file_with_delimiter(path: PathBuf, delimiter: &'static [u8]) -> Self {
        Self { content: Content::File { path, delimiter: Some(delimiter), behind_sets: None } }
    }

    /// A file of SQL that may begin with SETs of its own. Where they set `sql_mode`, these statements run behind them.
    pub(super) fn file_with_mode(path: PathBuf, behind_sets: Vec<u8>) -> Self {
        Self { content: Content::File { path, delimiter: None, behind_sets: Some(behind_sets.into()) } }
    }

    /// Statements of Hortator's own, which serve the member behind them.
    pub(super) fn settings(served: &str, text: Vec<u8>) -> Self {
        let (name, start) = (settings_name(served), Position { line: 1, byte: 0 });
        Self { content: Content::Text { name, text: text.into(), start } }
    }

    /// A part of a file of SQL.
    pub(super) fn part(path: &Path, text: &[u8], start: Position) -> Self {
        Self { content: Content::Text { name: path.display().to_string().into(), text: text.into(), start } }
    }

    /// A file of rows.
    pub(super) fn rows(file: RowsFile) -> Self {
        Self { content: Content::Rows(Arc::new(file)) }
    }

    /// The file that it reads, if it reads one to its end.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.content {
            Content::File { path, .. } => Some(path),
            Content::Rows(file) if file.unreadable.is_some() => None,
            Content::Rows(file) => Some(&file.path).filter(|path| *path != Path::new("-")).map(PathBuf::as_path),
            Content::StandardInput | Content::Text { .. } => None,
        }
    }

    /// The rows of a table in the folder of a dump tool: what is wrong with them is of no concern where they are left out.
    pub(crate) fn rows_of_dump(&self) -> Option<&RowsFile> {
        match &self.content {
            Content::Rows(file) if file.format.is_of_dump => Some(file),
            _ => None,
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.content {
            Content::StandardInput => STANDARD_INPUT.to_owned(),
            Content::File { path, .. } => path.display().to_string(),
            Content::Text { name, .. } => name.to_string(),
            Content::Rows(file) => file.path.display().to_string(),
        }
    }
}

/// The name for messages of Hortator's own statements.
pub(crate) fn settings_name(served: &str) -> Arc<str> {
    format!("(settings for {served})").into()
}
