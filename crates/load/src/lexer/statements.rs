//! A dump as the statements that the `mariadb` client would send: the public interface of the splitter, and the stack of
//! inputs that `source` builds.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;

use super::dialect::Dialect;
use super::error::{Error, Location};
use super::leading_sets::{LEADING_SETS_LIMIT_BYTES, leading_sets_of_mode};
use super::splitter::{Lexical, Split, Splitter, SplitterMark};
use crate::input::delimited::{RowError, RowStatement, RowStatements, RowsFile, RowsHead};
use crate::input::{self, Content, Member, Position, Progress, Source, Window, WindowMark, settings_name};

/// Largest statement unless [`StatementsOptions::statement_limit_bytes`] says otherwise: the most that max_allowed_packet can be.
pub const STATEMENT_LIMIT_BYTES: usize = 1 << 30;

/// How deep files may source files.
pub const SOURCE_DEPTH_LIMIT: usize = 32;

/// How far it is looked for the end of a statement that is read ahead.
const READ_AHEAD_LIMIT_BYTES: usize = 64 << 10;

/// Where a file begins.
const BEGINNING: Position = Position { line: 1, byte: 0 };

/// Buffers kept from [`Statements::recycle`], and their largest size.
const SPARE_BUFFERS_LIMIT: usize = 4;
const SPARE_BUFFER_LIMIT_BYTES: usize = 16 << 20;

/// How to split a dump.
#[derive(Clone, Debug)]
pub struct StatementsOptions {
    /// The SQL modes in force at the dump's beginning, and the *client's* character set (`--default-character-set`):
    /// like the client's, the command `charset` changes it, and SET NAMES does not.
    pub dialect: Dialect,
    /// The client's `--comments`: comments are part of the statements.
    pub comments: bool,
    /// The client's `--binary-mode`: NUL and CRLF are kept, and of the client commands only `delimiter`, `\C` and `\-`
    /// are known.
    pub binary_mode: bool,
    /// Largest statement; beyond it comes [`Error::TooLarge`].
    pub statement_limit_bytes: usize,
}

impl StatementsOptions {
    /// The client's defaults, for this dialect.
    pub fn new(dialect: Dialect) -> StatementsOptions {
        StatementsOptions { dialect, comments: false, binary_mode: false, statement_limit_bytes: STATEMENT_LIMIT_BYTES }
    }
}

/// What ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// The delimiter.
    Delimiter,
    /// `\g`.
    Go,
    /// `\G`: the client prints the rows one value a line.
    GoVertical,
    /// The end of a line comment that is a statement of its own (with [`StatementsOptions::comments`]).
    Comment,
    /// The end of the input, or a `quit`. A dump that is whole rarely ends so.
    EndOfInput,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Exactly the bytes that the client would send.
    pub text: Vec<u8>,
    /// Where its first byte is.
    pub location: Location,
    /// The byte of the file behind it and what ended it, counted as in [`Location::byte`].
    pub end_byte: u64,
    /// What ended it.
    pub terminator: Terminator,
}

/// What a dump is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A statement to be sent.
    Statement(Statement),
    /// `use` and `\u`: the database to be selected, which the client does without a statement.
    Use {
        /// Its name, unquoted.
        database: Vec<u8>,
        /// Where the command is.
        location: Location,
    },
    /// `charset` and `\C`: the client sends `SET NAMES` with that name. The splitter has followed it already.
    Charset {
        /// The name as given; whether the server knows it is not checked.
        name: Vec<u8>,
        /// Where the command is.
        location: Location,
    },
    /// `quit` or `exit`: what is behind it in this input is not read.
    Quit {
        /// Where the command is.
        location: Location,
    },
    /// A file of rows comes. It is not open yet: see [`Statements::pass_rows`].
    RowsFile {
        /// The file.
        file: Arc<RowsFile>,
    },
    /// The columns of a file of rows whose table is not of the input: see [`Statements::expect_columns`].
    RowsColumns {
        /// The file.
        file: Arc<RowsFile>,
        /// Their names, in order; `None` for all columns of the table.
        columns: Option<Vec<Vec<u8>>>,
        /// Where they are named, or the rows begin; the number is that of the next statement.
        location: Location,
    },
    /// The end of such a file that has no rows.
    NoRows {
        /// The file.
        file: Arc<RowsFile>,
        /// Where its rows would be; the number is that of the next statement.
        location: Location,
    },
    /// A client command that means nothing to a load: `status`, `print`, `warnings` and such.
    Ignored {
        /// Its long name.
        name: &'static str,
        /// Where the command is.
        location: Location,
    },
}

/// The items of a dump, in order.
///
/// It reads no further than the item that it gives, so what a statement changes for the next one may be set in between:
/// see [`Statements::set_dialect`]. After an error that is not final it goes on as the client does with
/// `--force`; after one that is, it is over.
#[derive(Debug)]
pub struct Statements {
    /// What is being read: each input is sourced by the one before it.
    inputs: Vec<Input>,
    /// The member of rows that comes; `inputs` is empty then, and while it is read.
    announced: Option<Arc<RowsFile>>,
    /// The member of rows that is being read.
    rows: Option<RowStatements>,
    /// Members to be read after these.
    waiting: VecDeque<Member>,
    /// Bytes of the largest statement.
    limit_bytes: usize,
    splitter: Splitter,
    progress: Arc<Progress>,
    /// Statements given so far.
    ordinal: u64,
    over: bool,
}

/// A place between two items to come back to: see [`Statements::read_ahead`].
#[derive(Debug)]
pub struct Mark {
    window: WindowMark,
    splitter: SplitterMark,
    ordinal: u64,
}

/// One input of the stack, the last being read.
#[derive(Debug)]
struct Input {
    window: Window,
    /// Where lexing stands in it while another input is read.
    lexical: Lexical,
    /// The file that it is, to resolve names beside it and to see a circle. `None` for what is no file.
    path: Option<PathBuf>,
}

impl Input {
    fn new(window: Window, path: Option<PathBuf>) -> Input {
        Input { window, lexical: Lexical::default(), path }
    }
}

impl Statements {
    /// The items of these members, one member after the other, each begun with the client's defaults.
    pub fn open(members: &[Member], options: StatementsOptions) -> Result<Statements, input::Error> {
        let progress = Arc::<Progress>::default();
        for member in members {
            match member.path().map(Source::measure) {
                Some(Ok(bytes)) => progress.expect(bytes),
                // It may be left out; else opening it says the same.
                Some(Err(_)) if member.rows_of_dump().is_some() => {}
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
        Ok(Statements {
            inputs: Vec::new(),
            announced: None,
            rows: None,
            waiting: members.iter().cloned().collect(),
            limit_bytes: options.statement_limit_bytes,
            splitter: Splitter::new(options),
            progress,
            ordinal: 0,
            over: false,
        })
    }

    /// The items of one input that is open already. Files that it sources are looked for in the current directory.
    pub fn new(source: Source, options: StatementsOptions) -> Statements {
        let progress = source.progress();
        let input = Input::new(Window::new(source), None);
        let limit_bytes = options.statement_limit_bytes;
        let splitter = Splitter::new(options);
        let (inputs, waiting) = (vec![input], VecDeque::new());
        let (announced, rows) = (None, None);
        Statements { inputs, announced, rows, waiting, limit_bytes, splitter, progress, ordinal: 0, over: false }
    }

    /// The next item, if it is a statement that is in memory and not long; the place before it. Else nothing has happened. It
    /// waits for no input, and it opens no file.
    pub fn read_ahead(&mut self) -> Option<(Statement, Mark)> {
        let input = self.inputs.last_mut().filter(|_| !self.over)?;
        let ahead = input.window.ahead();
        let near = &ahead[..ahead.len().min(READ_AHEAD_LIMIT_BYTES)];
        memmem::find(near, self.splitter.delimiter_bytes())?;
        let splitter = self.splitter.mark()?;
        let mark = Mark { window: input.window.hold(), splitter, ordinal: self.ordinal };
        let split = self.splitter.next(&mut input.window);
        let is_whole = input.window.release();
        match split {
            Ok(Split::Statement { text, position, end_byte, terminator })
                if is_whole && terminator != Terminator::EndOfInput =>
            {
                self.ordinal += 1;
                let location = Location { ordinal: self.ordinal, ..locate(input.window.name(), position) };
                Some((Statement { text, location, end_byte, terminator }, mark))
            }
            _ => {
                self.rewind(mark);
                None
            }
        }
    }

    /// Goes back to the place before the statement that was read ahead, if nothing was read since.
    pub fn rewind(&mut self, mark: Mark) {
        let Some(input) = self.inputs.last_mut() else { return };
        input.window.rewind(mark.window);
        self.splitter.rewind(mark.splitter);
        self.ordinal = mark.ordinal;
    }

    /// What the session is like from here on: of the dialect, the SQL modes count, which the client follows by the
    /// server's status flags.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.splitter.set_modes(&dialect);
    }

    /// The progress of reading, over all files.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// The position up to which the dump was split.
    pub fn location(&mut self) -> Option<Location> {
        let window = &mut self.inputs.last_mut()?.window;
        let position = window.position();
        Some(locate(window.name(), position))
    }

    /// Gives the buffer of a statement back for another one.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if self.splitter.spare.len() < SPARE_BUFFERS_LIMIT && buffer.capacity() <= SPARE_BUFFER_LIMIT_BYTES {
            self.splitter.spare.push(buffer);
        }
    }

    #[cfg(test)]
    pub(super) fn cut_slowly(&mut self, slow: bool) {
        self.splitter.slow = slow;
    }

    fn advance(&mut self) -> Result<Option<Item>, Error> {
        loop {
            let Some(input) = self.inputs.last_mut() else {
                if let Some(item) = self.next_of_rows()? {
                    return Ok(Some(item));
                }
                let Some(member) = self.waiting.pop_front() else { return Ok(None) };
                if let Content::Rows(file) = &member.content {
                    self.announced = Some(Arc::clone(file));
                    return Ok(Some(Item::RowsFile { file: Arc::clone(file) }));
                }
                self.begin(&member.content)?;
                continue;
            };
            let name = Arc::clone(input.window.name());
            let at = |position| locate(&name, position);
            match self.splitter.next(&mut input.window)? {
                Split::Statement { text, position, end_byte, terminator } => {
                    self.ordinal += 1;
                    let location = Location { ordinal: self.ordinal, ..at(position) };
                    return Ok(Some(Item::Statement(Statement { text, location, end_byte, terminator })));
                }
                Split::Use { database, position } => return Ok(Some(Item::Use { database, location: at(position) })),
                Split::Charset { name, position } => return Ok(Some(Item::Charset { name, location: at(position) })),
                Split::Source { file, position } => self.enter(&file, &at(position))?,
                Split::Ignored { name, position } => return Ok(Some(Item::Ignored { name, location: at(position) })),
                Split::Quit { position } => {
                    self.leave();
                    return Ok(Some(Item::Quit { location: at(position) }));
                }
                Split::End => self.leave(),
            }
        }
    }

    fn begin(&mut self, content: &Content) -> Result<(), Error> {
        let mut before = Vec::new();
        let (window, path, delimiter) = match content {
            Content::StandardInput => (Window::new(Source::stdin_with(self.progress())?), None, None),
            Content::File { path: file, delimiter, behind_sets } => {
                let source = Source::open_expected(file, self.progress())?;
                let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
                let mut window = Window::new(source);
                if let Some(settings) = behind_sets {
                    before = self.divide(&mut window, settings)?;
                }
                (window, Some(path), *delimiter)
            }
            Content::Text { name, text, start } => {
                let source = Source::of_text(name, Arc::clone(text), self.progress())?;
                (Window::of_part(source, *start), None, None)
            }
            Content::Rows(_) => return Ok(()),
        };
        self.inputs.push(Input::new(window, path));
        self.inputs.extend(before.into_iter().map(|window| Input::new(window, None)));
        self.splitter.begin(delimiter);
        Ok(())
    }

    /// Takes the SETs that a file begins with off its window, if they set `sql_mode`. Gives what is to be read before the
    /// rest: the settings, and on top of them those SETs.
    fn divide(&self, window: &mut Window, settings: &Arc<[u8]>) -> Result<Vec<Window>, Error> {
        window.ensure_of_file(LEADING_SETS_LIMIT_BYTES)?;
        let near = &window.ahead()[..window.ahead().len().min(LEADING_SETS_LIMIT_BYTES)];
        let Some(length) = leading_sets_of_mode(near, self.splitter.dialect()) else { return Ok(Vec::new()) };
        let (sets, name) = (Arc::from(&near[..length]), Arc::clone(window.name()));
        window.advance(length);
        let settings = Source::of_text(&settings_name(&name), Arc::clone(settings), self.progress())?;
        let sets = Source::of_text(&name, sets, self.progress())?;
        Ok(vec![Window::new(settings), Window::new(sets)])
    }

    /// Leaves out the rest of the file of rows that comes or is being read. One that has only been announced is not opened.
    pub fn pass_rows(&mut self) {
        if let Some(file) = self.announced.take().filter(|file| file.unreadable.is_none()) {
            let is_file = file.path.metadata().ok().filter(std::fs::Metadata::is_file);
            self.progress.pass(is_file.map_or(0, |found| found.len()));
        }
        self.rows = None;
    }

    /// The table of the file of rows that is being read has so many columns.
    pub fn expect_columns(&mut self, columns: usize) {
        if let Some(rows) = &mut self.rows {
            rows.expect_width(columns);
        }
    }

    /// The next item of the rows that come or are being read.
    fn next_of_rows(&mut self) -> Result<Option<Item>, Error> {
        if let Some(file) = self.announced.take() {
            return self.open_rows(file);
        }
        let Some(rows) = &mut self.rows else { return Ok(None) };
        match rows.next() {
            Ok(Some(RowStatement { text, position, end_byte })) => {
                self.ordinal += 1;
                let location = Location { ordinal: self.ordinal, ..locate(rows.name(), position) };
                Ok(Some(Item::Statement(Statement { text, location, end_byte, terminator: Terminator::Delimiter })))
            }
            Ok(None) => {
                let rows = self.rows.take().filter(RowStatements::is_empty);
                Ok(rows.filter(|rows| !rows.file().is_defined).map(|rows| Item::NoRows {
                    file: Arc::clone(rows.file()),
                    location: Location { ordinal: self.ordinal + 1, ..locate(rows.name(), rows.position()) },
                }))
            }
            Err(error) => Err(row_error(error, rows.name())),
        }
    }

    fn open_rows(&mut self, file: Arc<RowsFile>) -> Result<Option<Item>, Error> {
        if let Some(reason) = &file.unreadable {
            let at = locate(&file.path.display().to_string().into(), BEGINNING);
            return Err(Error::Record { at, reason: reason.clone() });
        }
        let mut rows = RowStatements::open(&file, self.progress(), self.limit_bytes)?;
        let RowsHead { columns, position } = rows.begin().map_err(|error| row_error(error, rows.name()))?;
        let location = Location { ordinal: self.ordinal + 1, ..locate(rows.name(), position) };
        self.rows = Some(rows);
        if file.is_defined { self.next_of_rows() } else { Ok(Some(Item::RowsColumns { file, columns, location })) }
    }

    fn leave(&mut self) {
        self.inputs.pop();
        if let Some(input) = self.inputs.last_mut() {
            self.splitter.enter(std::mem::take(&mut input.lexical));
        }
    }

    fn enter(&mut self, file: &[u8], at: &Location) -> Result<(), Error> {
        let named = PathBuf::from(OsStr::from_bytes(file));
        let failure = |reason: String| Error::Source { at: at.clone(), file: named.display().to_string(), reason };
        let including = self.inputs.last().and_then(|input| input.path.as_deref()).and_then(Path::parent);
        let beside = including.map(|directory| directory.join(&named)).filter(|path| path.exists());
        let path = beside.unwrap_or_else(|| named.clone());
        let canonical = path.canonicalize().map_err(|error| failure(error.to_string()))?;
        if self.inputs.iter().any(|input| input.path.as_deref() == Some(&canonical)) {
            let chain: Vec<&str> = self.inputs.iter().map(|input| &**input.window.name()).collect();
            return Err(failure(format!("the file sources itself ({})", chain.join(", "))));
        }
        if self.inputs.len() > SOURCE_DEPTH_LIMIT {
            return Err(failure(format!("the nesting of source commands exceeds {SOURCE_DEPTH_LIMIT} levels")));
        }
        let source = Source::open_with(&path, self.progress()).map_err(|error| failure(error.to_string()))?;
        if let Some(outer) = self.inputs.last_mut() {
            outer.lexical = self.splitter.enter(Lexical::default());
        }
        let window = Window::new(source);
        self.inputs.push(Input::new(window, Some(canonical)));
        Ok(())
    }
}

/// What is wrong with a file of rows of this name.
fn row_error(error: RowError, name: &Arc<str>) -> Error {
    match error {
        RowError::Input(error) => error.into(),
        RowError::Record { position, reason } => Error::Record { at: locate(name, position), reason },
        RowError::TooLarge { position, limit_bytes } => Error::TooLarge { at: locate(name, position), limit_bytes },
    }
}

pub(super) fn locate(file: &Arc<str>, position: Position) -> Location {
    Location { file: Arc::clone(file), line: position.line, byte: position.byte, ordinal: 0 }
}

impl Iterator for Statements {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Result<Item, Error>> {
        if self.over {
            return None;
        }
        let item = self.advance();
        self.over |= matches!(item, Ok(None)) || matches!(&item, Err(error) if error.is_final());
        item.transpose()
    }
}
