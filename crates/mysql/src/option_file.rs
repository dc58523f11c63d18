//! Reads my.cnf: groups, `name=value`, quotes, escapes, comments, `!include` and `!includedir`.
//!
//! The syntax is that of MariaDB's manual, "Configuring MariaDB with Option Files"; where the manual is silent, the
//! observed behaviour of `my_print_defaults` of 10.11 is the rule, and a test compares the two. This module is stricter
//! than the client in one respect: the client prints an error for a broken included file and continues with part of the
//! options; this module returns an error.
//!
//! Not in this module: the names of options and their meaning. See [`options`](crate::options).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum depth of nested includes; deeper includes are ignored, as by the client.
pub const INCLUDE_DEPTH_LIMIT: usize = 10;
/// The maximum number of files: nested folders that include one another would otherwise multiply.
pub const FILES_LIMIT: usize = 1000;
/// The maximum size of one file.
pub const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// One option of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its group, as written.
    pub group: String,
    /// The name as written: dashes and underscores are not unified yet, prefixes such as `loose-` are kept.
    pub name: String,
    /// The value without quotes and escapes; None for a bare name.
    pub value: Option<Vec<u8>>,
    /// Its line.
    pub source_line: SourceLine,
}

impl fmt::Debug for Entry {
    /// Without the value: it may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{}] {}", self.source_line, self.group, self.name)
    }
}

/// A line of an option file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub path: Arc<Path>,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// The errors of reading option files.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A requested file or folder is missing, or cannot be read.
    #[error("cannot read the option file {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A line that is neither a group, an option, a comment nor a directive.
    #[error("{source_line}: {found}")]
    Syntax {
        /// The line.
        source_line: SourceLine,
        /// The error in the line.
        found: &'static str,
    },
    /// A limit was exceeded.
    #[error("the option file {} {what}", path.display())]
    TooLarge {
        /// The file that exceeds it.
        path: PathBuf,
        /// The limit.
        what: String,
    },
}

/// Collects the options of some groups from one file after another, in order.
#[derive(Debug)]
pub struct Reader {
    groups: Vec<String>,
    home: Option<PathBuf>,
    entries: Vec<Entry>,
    warnings: Vec<String>,
    files: usize,
}

impl Reader {
    /// A reader of these groups. `home` replaces `~/` in the names of files.
    pub fn new(groups: Vec<String>, home: Option<PathBuf>) -> Reader {
        Reader { groups, home, entries: Vec::new(), warnings: Vec::new(), files: 0 }
    }

    /// Reads a requested file.
    ///
    /// # Errors
    /// When it is missing, unreadable, or invalid.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        let path = self.expand(path);
        self.read_nested(&path, 0)?.map_err(|source| Error::Unreadable { path, source })
    }

    /// Reads a file if it exists: a missing file is no error, and missing permission is a warning, because the file may
    /// belong to another user.
    ///
    /// # Errors
    /// When it is invalid.
    pub fn read_if_present(&mut self, path: &Path) -> Result<(), Error> {
        let path = self.expand(path);
        self.read_optional(&path, 0)
    }

    /// The options in order, and the warnings for the user.
    pub fn finish(self) -> (Vec<Entry>, Vec<String>) {
        (self.entries, self.warnings)
    }

    fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    fn read_optional(&mut self, path: &Path, depth: usize) -> Result<(), Error> {
        if let Err(error) = self.read_nested(path, depth)?
            && error.kind() != io::ErrorKind::NotFound
        {
            self.warnings.push(format!("the option file {} is ignored: {error}", path.display()));
        }
        Ok(())
    }

    /// The inner result is the error of opening or reading the file.
    fn read_nested(&mut self, path: &Path, depth: usize) -> Result<io::Result<()>, Error> {
        self.files += 1;
        if self.files > FILES_LIMIT {
            let what = format!("is not read: more than {FILES_LIMIT} files include one another");
            return Err(Error::TooLarge { path: path.to_owned(), what });
        }
        let text = match read_text(path) {
            Ok(Text::Of(text)) => text,
            Ok(Text::WorldWritable) => {
                let path = path.display();
                self.warnings.push(format!("the option file {path} is ignored: all users can write to it"));
                return Ok(Ok(()));
            }
            Err(error) => return Ok(Err(error)),
        };
        if text.len() as u64 > FILE_LIMIT_BYTES {
            let what = format!("is larger than the limit of {FILE_LIMIT_BYTES} bytes");
            return Err(Error::TooLarge { path: path.to_owned(), what });
        }
        self.parse(path, &text, depth)?;
        Ok(Ok(()))
    }

    fn parse(&mut self, path: &Path, text: &[u8], depth: usize) -> Result<(), Error> {
        let path: Arc<Path> = Arc::from(path);
        let mut group: Option<(String, bool)> = None;
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let source_line = SourceLine { path: Arc::clone(&path), line: index + 1 };
            match parse_line(line) {
                Line::Nothing => {}
                Line::Group(name) => {
                    let wanted = self.groups.iter().any(|group| group.eq_ignore_ascii_case(&name));
                    group = Some((name, wanted));
                }
                Line::Option { name, value } => match &group {
                    None => return Err(Error::Syntax { source_line, found: "an option before the first [group]" }),
                    Some((_, false)) => {}
                    Some((group, true)) => self.entries.push(Entry { group: group.clone(), name, value, source_line }),
                },
                Line::Include(included) => self.include(&included, &source_line, depth)?,
                Line::IncludeFolder(folder) => self.include_folder(&folder, &source_line, depth)?,
                Line::UnknownDirective => {
                    self.warnings
                        .push(format!("{source_line}: ignored: write `!include FILE` or `!includedir FOLDER`"));
                }
                Line::Wrong(found) => return Err(Error::Syntax { source_line, found }),
            }
        }
        Ok(())
    }

    fn include(&mut self, path: &Path, source_line: &SourceLine, depth: usize) -> Result<(), Error> {
        if !self.may_include(source_line, depth) {
            return Ok(());
        }
        let path = self.expand(path);
        self.read_optional(&path, depth + 1)
    }

    fn include_folder(&mut self, path: &Path, source_line: &SourceLine, depth: usize) -> Result<(), Error> {
        if !self.may_include(source_line, depth) {
            return Ok(());
        }
        let path = self.expand(path);
        let files = option_files_in(&path).map_err(|source| Error::Unreadable { path, source })?;
        for file in files {
            self.read_optional(&file, depth + 1)?;
        }
        Ok(())
    }

    fn may_include(&mut self, source_line: &SourceLine, depth: usize) -> bool {
        if depth == INCLUDE_DEPTH_LIMIT {
            self.warnings
                .push(format!("{source_line}: not included: {INCLUDE_DEPTH_LIMIT} files already include one another"));
        }
        depth < INCLUDE_DEPTH_LIMIT
    }
}

enum Text {
    Of(Vec<u8>),
    WorldWritable,
}

fn read_text(path: &Path) -> io::Result<Text> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // A pipe (`--defaults-file=<(…)`) has no meaningful mode.
    if metadata.is_file() && metadata.mode() & 0o002 != 0 {
        return Ok(Text::WorldWritable);
    }
    let mut text = Vec::new();
    file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut text)?;
    Ok(Text::Of(text))
}

/// The `*.cnf` files of a folder, sorted by the bytes of their names.
fn option_files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Not `Path::extension`: `.cnf` itself counts too.
        let named_so = path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(b".cnf"));
        if named_so && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

enum Line {
    Nothing,
    Group(String),
    Option { name: String, value: Option<Vec<u8>> },
    Include(PathBuf),
    IncludeFolder(PathBuf),
    UnknownDirective,
    Wrong(&'static str),
}

fn parse_line(line: &[u8]) -> Line {
    let line = trim(line);
    match line.first() {
        None | Some(b'#' | b';') => Line::Nothing,
        Some(b'!') => parse_directive(trim(&line[1..])),
        Some(b'[') => match line.iter().position(|&byte| byte == b']') {
            // The client's rule: space before the name is significant, space after it is not.
            Some(end) => Line::Group(text(trim_end(&line[1..end]))),
            None => Line::Wrong("a group without its closing `]`"),
        },
        Some(_) => parse_option(trim_end(without_comment(line))),
    }
}

fn parse_directive(directive: &[u8]) -> Line {
    let end = directive.iter().position(|&byte| is_space(byte)).unwrap_or(directive.len());
    let (name, argument) = (&directive[..end], trim(&directive[end..]));
    match name {
        b"include" | b"includedir" if argument.is_empty() => Line::Wrong("`!include` without the name of a file"),
        b"include" => Line::Include(path(argument)),
        b"includedir" => Line::IncludeFolder(path(argument)),
        _ => Line::UnknownDirective,
    }
}

fn parse_option(option: &[u8]) -> Line {
    let Some(equals) = option.iter().position(|&byte| byte == b'=') else {
        return Line::Option { name: text(option), value: None };
    };
    let value = without_quotes(trim(&option[equals + 1..]));
    Line::Option { name: text(trim_end(&option[..equals])), value: Some(without_escapes(value)) }
}

/// A `#` ends the line, except between quotes; between quotes a backslash escapes the next byte. Quotes count anywhere,
/// also within a word.
fn without_comment(line: &[u8]) -> &[u8] {
    let mut quote = None;
    let mut escaped = false;
    for (index, &byte) in line.iter().enumerate() {
        match (byte, quote) {
            (b'#', None) => return &line[..index],
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open && !escaped => quote = None,
            _ => {}
        }
        escaped = quote.is_some() && byte == b'\\' && !escaped;
    }
    line
}

fn without_quotes(value: &[u8]) -> &[u8] {
    match value {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        _ => value,
    }
}

fn without_escapes(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(b'r') => plain.push(b'\r'),
            Some(b'b') => plain.push(b'\x08'),
            Some(b's') => plain.push(b' '),
            Some(&literal @ (b'"' | b'\'' | b'\\')) => plain.push(literal),
            Some(&other) => plain.extend([b'\\', other]),
            None => plain.push(b'\\'),
        }
    }
    plain
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    trim_end(&text[start..])
}

fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1);
    &text[..end]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
