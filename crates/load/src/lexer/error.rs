//! Errors of splitting a dump.

use std::fmt;
use std::sync::Arc;

use crate::input;

/// A position in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The input's name, as it was given or sourced.
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: u64,
    /// Bytes before it in the file, after decompression.
    pub byte: u64,
    /// A statement's number in the whole stream, from 1; 0 for what is no statement.
    pub ordinal: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{} (byte {})", self.file, self.line, self.byte)
    }
}

/// Why splitting a dump failed.
///
/// If [`Error::is_final`] is false, splitting can continue as the client does with `--force`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be read on.
    #[error(transparent)]
    Input(#[from] input::Error),
    /// A NUL byte outside of binary mode.
    #[error(
        "{at}: the dump has a NUL byte, which needs --binary-mode; a dump written with --hex-blob has no NUL \
         bytes"
    )]
    Nul {
        /// Where it is.
        at: Location,
    },
    /// A statement beyond the limit.
    #[error("{at}: the statement that starts here is larger than {limit_bytes} bytes; no server accepts it")]
    TooLarge {
        /// Where the statement begins.
        at: Location,
        /// The limit.
        limit_bytes: usize,
    },
    /// A backslash outside of strings that is no command.
    #[error("{at}: unknown command '\\{}'; is a quote missing before it?", .letter.escape_ascii())]
    UnknownCommand {
        /// Where the backslash is.
        at: Location,
        /// What stands behind it.
        letter: u8,
    },
    /// A client command that a load does not run.
    #[error("{at}: a load does not run the client command `{name}`: remove it from the dump")]
    Refused {
        /// Where it is.
        at: Location,
        /// Its long name.
        name: &'static str,
    },
    /// A command that the dump itself forbade by its `\-`.
    #[error("{at}: the dump turned on sandbox mode, which does not allow the client command `{name}`")]
    Sandboxed {
        /// Where it is.
        at: Location,
        /// Its long name.
        name: &'static str,
    },
    /// A command with a missing or unfit argument.
    #[error("{at}: {rule}")]
    Argument {
        /// Where the command is.
        at: Location,
        /// What it needs.
        rule: &'static str,
    },
    /// A `source` that cannot be followed.
    #[error("{at}: cannot source {file}: {reason}")]
    Source {
        /// Where it is named.
        at: Location,
        /// The file, as named.
        file: String,
        /// Why not.
        reason: String,
    },
    /// A record of a file of rows that is not one of the table's.
    #[error("{at}: {reason}")]
    Record {
        /// Where the record begins.
        at: Location,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The input ends within a string, a quoted name or a comment.
    #[error("{at}: {what} here has no end: the lexer read the rest of the input as part of it; is the dump truncated?")]
    Unterminated {
        /// Where the comment or the statement begins.
        at: Location,
        /// What is open.
        what: &'static str,
    },
}

impl Error {
    /// Where in the dump it is, but for what is wrong with an input as a whole.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Error::Input(_) => None,
            Error::Nul { at }
            | Error::TooLarge { at, .. }
            | Error::UnknownCommand { at, .. }
            | Error::Refused { at, .. }
            | Error::Sandboxed { at, .. }
            | Error::Argument { at, .. }
            | Error::Source { at, .. }
            | Error::Record { at, .. }
            | Error::Unterminated { at, .. } => Some(at),
        }
    }

    /// The message without the position.
    pub fn finding(&self) -> String {
        let said = self.to_string();
        let position = self.location().map(|at| format!("{at}: ")).unwrap_or_default();
        said.strip_prefix(&position).map(str::to_owned).unwrap_or(said)
    }

    /// True when nothing more can be had from the input.
    pub fn is_final(&self) -> bool {
        matches!(self, Error::Input(_) | Error::Nul { .. } | Error::TooLarge { .. })
    }
}
