//! The splitter: a state machine that goes through one input byte by byte (with a fast path for plain text) and
//! builds statements as the `mariadb` client does. It keeps what outlives a file: the delimiter, the modes.
//!
//! The client works line by line on a *buffer* that holds the statement so far and a *run*: what it has accepted of the
//! line since it last moved that into the buffer. Several of its habits depend on which of the two is empty, so both
//! are here: `text` is the buffer with the run behind it, `flushed` is where the run begins. What it does was found by
//! watching what it sends; `testdata/lexer` has a case for each habit.

mod client_commands;
mod step;

use crate::input::{Position, Window};
use crate::lexer::Charset;
use crate::lexer::command::{self, is_space};
use crate::lexer::dialect::Dialect;
use crate::lexer::error::Error;
use crate::lexer::scan::{self, Rules};
use crate::lexer::statements::{StatementsOptions, Terminator, locate};

/// Longest line that is looked through for a client command.
const COMMAND_LINE_LIMIT_BYTES: usize = 1 << 20;

/// Bytes that every step may look at, besides the delimiter.
const LOOKAHEAD_BYTES: usize = 8;

const DEFAULT_DELIMITER: &[u8] = b";";

/// The client cuts longer ones.
const DELIMITER_LIMIT_BYTES: usize = 15;

const DELIMITER_WORD: &[u8] = b"delimiter";

/// What the splitter found.
#[derive(Debug)]
pub(in crate::lexer) enum Split {
    Statement { text: Vec<u8>, position: Position, end_byte: u64, terminator: Terminator },
    Use { database: Vec<u8>, position: Position },
    Charset { name: Vec<u8>, position: Position },
    Source { file: Vec<u8>, position: Position },
    Ignored { name: &'static str, position: Position },
    Quit { position: Position },
    End,
}

/// The state that belongs to one input.
#[derive(Clone, Debug)]
pub(in crate::lexer) struct Lexical {
    /// The quote of the open string or name.
    quote: Option<u8>,
    /// Where the open comment begins.
    comment: Option<Position>,
    /// Within `/*! … */`, as far as the client knows: it forgets about it at the end of the line.
    in_version_comment: bool,
    /// A comment was left out: one blank stands for it if no white space follows.
    blank_is_due: bool,
    at_line_start: bool,
    at_first_byte: bool,
    sandboxed: bool,
    /// Leave the input at the next step.
    leaving: Option<Position>,
    /// That something is not closed at the end has been said.
    complained: bool,
}

impl Default for Lexical {
    fn default() -> Lexical {
        Lexical {
            quote: None,
            comment: None,
            in_version_comment: false,
            blank_is_due: false,
            at_line_start: true,
            at_first_byte: true,
            sandboxed: false,
            leaving: None,
            complained: false,
        }
    }
}

#[derive(Debug)]
pub(in crate::lexer) struct Splitter {
    /// Buffers to be used again.
    pub(in crate::lexer) spare: Vec<Vec<u8>>,
    options: StatementsOptions,
    /// The client's character set now.
    charset: Charset,
    delimiter: Vec<u8>,
    text: Vec<u8>,
    flushed: usize,
    /// Where `text` begins; holds while `text` is not empty.
    start: Position,
    lexical: Lexical,
    /// The quote that plain text is followed by.
    likely_quote: u8,
    /// Size of the last statement, as a guess of the next.
    last_bytes: usize,
    #[cfg(test)]
    pub(in crate::lexer) slow: bool,
}

/// How a splitter stands between two statements, to come back to.
#[derive(Debug)]
pub(in crate::lexer) struct SplitterMark {
    charset: Charset,
    delimiter: Vec<u8>,
    start: Position,
    lexical: Lexical,
    likely_quote: u8,
    last_bytes: usize,
}

impl Splitter {
    pub(in crate::lexer) fn new(options: StatementsOptions) -> Splitter {
        Splitter {
            spare: Vec::new(),
            charset: options.dialect.charset,
            options,
            delimiter: DEFAULT_DELIMITER.to_vec(),
            text: Vec::new(),
            flushed: 0,
            start: Position::default(),
            lexical: Lexical::default(),
            likely_quote: b'\'',
            last_bytes: 0,
            #[cfg(test)]
            slow: false,
        }
    }

    /// Turns to a first input, as a client that was just started; with another delimiter, if it has one.
    pub(in crate::lexer) fn begin(&mut self, delimiter: Option<&[u8]>) {
        self.enter(Lexical::default());
        self.charset = self.options.dialect.charset;
        self.delimiter = delimiter.unwrap_or(DEFAULT_DELIMITER).to_vec();
    }

    pub(in crate::lexer) fn dialect(&self) -> &Dialect {
        &self.options.dialect
    }

    pub(in crate::lexer) fn set_modes(&mut self, dialect: &Dialect) {
        self.options.dialect.no_backslash_escapes = dialect.no_backslash_escapes;
        self.options.dialect.ansi_quotes = dialect.ansi_quotes;
        self.options.dialect.brackets = dialect.brackets;
    }

    /// Turns to another input, with the state in which it was left (or a new one), and gives the state of this one.
    pub(in crate::lexer) fn enter(&mut self, lexical: Lexical) -> Lexical {
        self.clear();
        std::mem::replace(&mut self.lexical, lexical)
    }

    /// How it stands now; `None` where a statement is open.
    pub(in crate::lexer) fn mark(&self) -> Option<SplitterMark> {
        let Splitter { charset, delimiter, start, lexical, likely_quote, last_bytes, .. } = self;
        self.text.is_empty().then(|| SplitterMark {
            charset: *charset,
            delimiter: delimiter.clone(),
            start: *start,
            lexical: lexical.clone(),
            likely_quote: *likely_quote,
            last_bytes: *last_bytes,
        })
    }

    /// Goes back to a mark.
    pub(in crate::lexer) fn rewind(&mut self, mark: SplitterMark) {
        self.clear();
        SplitterMark {
            charset: self.charset,
            delimiter: self.delimiter,
            start: self.start,
            lexical: self.lexical,
            likely_quote: self.likely_quote,
            last_bytes: self.last_bytes,
        } = mark;
    }

    /// The bytes that end a statement.
    pub(in crate::lexer) fn delimiter_bytes(&self) -> &[u8] {
        &self.delimiter
    }

    /// The next thing in this input.
    pub(in crate::lexer) fn next(&mut self, window: &mut Window) -> Result<Split, Error> {
        loop {
            if self.text.len() > self.options.statement_limit_bytes {
                let at = locate(window.name(), self.start);
                return Err(Error::TooLarge { at, limit_bytes: self.options.statement_limit_bytes });
            }
            let split = match self.lexical.leaving {
                Some(position) => Some(self.send(window, Terminator::EndOfInput).unwrap_or(Split::Quit { position })),
                None if self.lexical.at_line_start => self.begin_line(window)?,
                None => {
                    self.pass_plain_text(window);
                    self.step(window)?
                }
            };
            if let Some(split) = split {
                return Ok(split);
            }
        }
    }

    fn begin_line(&mut self, window: &mut Window) -> Result<Option<Split>, Error> {
        self.lexical.at_line_start = false;
        self.lexical.blank_is_due = false;
        self.lexical.in_version_comment = false;
        if std::mem::take(&mut self.lexical.at_first_byte) {
            window.ensure(3)?;
            if window.ahead().starts_with(b"\xef\xbb\xbf") {
                window.advance(3);
            }
        }
        if !self.text.is_empty() || self.lexical.comment.is_some() || self.lexical.quote.is_some() {
            return Ok(None);
        }
        let Some(line) = self.command_line(window)? else { return Ok(None) };
        let command = command::by_text(&line, &self.delimiter, self.options.binary_mode);
        let Some(command) = command else { return Ok(None) };
        let position = window.position();
        window.advance(line.len());
        self.end_line(window);
        self.run_command(command, &line, position, window, Terminator::Go)
    }

    /// The whole next line, without its end, if its first word may be a command.
    fn command_line(&self, window: &mut Window) -> Result<Option<Vec<u8>>, Error> {
        let mut wanted = 64;
        loop {
            window.ensure(wanted)?;
            let ahead = window.ahead();
            let whole = ahead.len() < wanted;
            let looked_at = &ahead[..ahead.len().min(wanted)];
            let newline = memchr::memchr(b'\n', looked_at);
            let line = newline.map_or(looked_at, |newline| self.without_carriage_return(&looked_at[..newline]));
            if newline.is_some() || whole {
                return Ok(command::may_be_command(line, self.options.binary_mode).then(|| line.to_vec()));
            }
            // More is needed only as long as this can still turn out to be a command.
            let blank = line.iter().all(|&byte| is_space(byte));
            let is_delimiter = line.trim_ascii_start().to_ascii_lowercase().starts_with(DELIMITER_WORD);
            let plausible = blank
                || (command::may_be_command(line, self.options.binary_mode)
                    && (is_delimiter || !command::has_terminator(line, &self.delimiter)));
            if !plausible || wanted >= COMMAND_LINE_LIMIT_BYTES {
                return Ok(None);
            }
            wanted *= 8;
        }
    }

    fn without_carriage_return<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        match line {
            [head @ .., b'\r'] if !self.options.binary_mode => head,
            _ => line,
        }
    }

    /// Length of the line end that `ahead` begins with.
    fn line_end(&self, ahead: &[u8]) -> Option<usize> {
        match ahead {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] if !self.options.binary_mode => Some(2),
            _ => None,
        }
    }

    /// The bytes of `ahead` that are still on this line, of the first few.
    fn near<'a>(&self, ahead: &'a [u8]) -> &'a [u8] {
        let reach = &ahead[..ahead.len().min(LOOKAHEAD_BYTES.max(self.delimiter.len()))];
        let end = memchr::memchr(b'\n', reach).unwrap_or(reach.len());
        let line = &reach[..end];
        if end < reach.len() { self.without_carriage_return(line) } else { line }
    }

    /// Ends the line, of which nothing but its end is ahead.
    fn end_line(&mut self, window: &mut Window) {
        let length = self.line_end(window.ahead()).unwrap_or(0);
        window.advance(length);
        if !self.text.is_empty() && (self.lexical.comment.is_none() || self.options.comments) {
            let run = &self.text[self.flushed..];
            let looks_like_command =
                run.get(..DELIMITER_WORD.len()).is_some_and(|head| head.eq_ignore_ascii_case(DELIMITER_WORD));
            if !looks_like_command || self.lexical.quote.is_some() || self.lexical.comment.is_some() {
                self.text.push(b'\n');
            }
            self.flushed = self.text.len();
        }
        self.lexical.at_line_start = true;
    }

    fn escapes_in(&self, quote: u8) -> bool {
        let dialect = &self.options.dialect;
        !dialect.no_backslash_escapes && quote != b'`' && !(quote == b'"' && dialect.ansi_quotes)
    }

    /// Copies plain text in bulk: the fast path.
    fn pass_plain_text(&mut self, window: &mut Window) {
        #[cfg(test)]
        if self.slow {
            return;
        }
        let Lexical { quote, comment, in_version_comment, blank_is_due, .. } = &self.lexical;
        let run = &self.text[self.flushed..];
        // While the run may become a line that begins with `delimiter`, its end must be seen by `end_line`.
        let may_be_delimiter_line = run.first().is_none_or(|byte| byte.eq_ignore_ascii_case(&b'd'))
            && run.iter().zip(DELIMITER_WORD).all(|(byte, wanted)| byte.eq_ignore_ascii_case(wanted));
        if comment.is_some()
            || *in_version_comment
            || *blank_is_due
            || may_be_delimiter_line
            || self.charset != Charset::AsciiSafe
            || matches!(self.delimiter[0], b'\'' | b'"' | b'`')
        {
            return;
        }
        self.likely_quote = quote.unwrap_or(if self.likely_quote == b'`' { b'\'' } else { self.likely_quote });
        let rules = Rules {
            quote: self.likely_quote,
            escapes: self.escapes_in(self.likely_quote),
            delimiter_first: self.delimiter[0],
            binary: self.options.binary_mode,
        };
        let plain = scan::plain(window.ahead(), quote.is_some(), &rules);
        let passed = &window.ahead()[..plain.length];
        if let Some(newline) = memchr::memrchr(b'\n', passed) {
            self.flushed = self.text.len() + newline + 1;
        }
        self.text.extend_from_slice(passed);
        self.lexical.quote = plain.in_string.then_some(self.likely_quote);
        window.advance(plain.length);
    }

    fn begin_text(&mut self, window: &mut Window) {
        if self.text.is_empty() {
            self.start = window.position();
            if self.text.capacity() == 0 {
                self.text = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.last_bytes));
            }
        }
    }

    /// Takes the next bytes into the statement.
    fn accept(&mut self, window: &mut Window, length: usize) {
        self.begin_text(window);
        self.text.extend_from_slice(&window.ahead()[..length]);
        window.advance(length);
    }

    /// Takes the next bytes of a comment into the statement, or leaves them out.
    fn skip_or_accept(&mut self, window: &mut Window, length: usize) {
        if self.options.comments {
            self.accept(window, length);
        } else {
            window.advance(length);
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.flushed = 0;
    }

    /// Hands the statement over, if there is more in it than blanks and control characters.
    fn send(&mut self, window: &Window, terminator: Terminator) -> Option<Split> {
        self.flushed = 0;
        while let Some(0..=b' ' | 0x7f) = self.text.last() {
            self.text.pop();
        }
        if self.text.is_empty() {
            return None;
        }
        let text = std::mem::take(&mut self.text);
        self.last_bytes = text.len();
        Some(Split::Statement { text, position: self.start, end_byte: window.byte(), terminator })
    }

    fn end_of_input(&mut self, window: &Window) -> Result<Split, Error> {
        if !std::mem::replace(&mut self.lexical.complained, true) {
            let open = match (self.lexical.comment, self.lexical.quote) {
                (Some(position), _) => Some((position, "the comment that starts")),
                (None, Some(b'`')) => Some((self.start, "a quoted name in the statement that starts")),
                (None, Some(_)) => Some((self.start, "a string in the statement that starts")),
                (None, None) => None,
            };
            if let Some((position, what)) = open {
                return Err(Error::Unterminated { at: locate(window.name(), position), what });
            }
        }
        Ok(self.send(window, Terminator::EndOfInput).unwrap_or(Split::End))
    }
}
