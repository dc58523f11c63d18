//! The cutter: a state machine that goes through one input byte by byte (with a fast road through plain text) and
//! builds statements as the `mariadb` client does. It keeps what outlives a file: the delimiter, the modes.
//!
//! The client works line by line on a *buffer* that holds the statement so far and a *run*: what it has accepted of the
//! line since it last moved that into the buffer. Several of its habits depend on which of the two is empty, so both
//! are here: `text` is the buffer with the run behind it, `flushed` is where the run begins. What it does was found by
//! watching what it sends; `testdata/lexer` has a case for each habit.

use super::charset::Charset;
use super::command::{self, Action, Command, is_space};
use super::dialect::Dialect;
use super::error::Error;
use super::scan::{self, Rules};
use super::statements::{StatementsOptions, Terminator, locate};
use crate::input::{Place, Window};

/// Longest line that is looked through for a client command.
const COMMAND_LINE_LIMIT_BYTES: usize = 1 << 20;

/// Bytes that every step may look at, besides the delimiter.
const LOOKAHEAD_BYTES: usize = 8;

const DEFAULT_DELIMITER: &[u8] = b";";

/// The client cuts longer ones.
const DELIMITER_LIMIT_BYTES: usize = 15;

const DELIMITER_WORD: &[u8] = b"delimiter";

/// What the cutter found.
#[derive(Debug)]
pub(super) enum Cut {
    Statement { text: Vec<u8>, place: Place, end_byte: u64, terminator: Terminator },
    Use { database: Vec<u8>, place: Place },
    Charset { name: Vec<u8>, place: Place },
    Source { file: Vec<u8>, place: Place },
    Ignored { name: &'static str, place: Place },
    Quit { place: Place },
    End,
}

/// The state that belongs to one input.
#[derive(Debug)]
pub(super) struct Lexical {
    /// The quote of the open string or name.
    quote: Option<u8>,
    /// Where the open comment begins.
    comment: Option<Place>,
    /// Within `/*! … */`, as far as the client knows: it forgets about it at the end of the line.
    in_version_comment: bool,
    /// A comment was left out: one blank stands for it if no white space follows.
    blank_is_due: bool,
    at_line_start: bool,
    at_first_byte: bool,
    sandboxed: bool,
    /// Leave the input at the next step.
    leaving: Option<Place>,
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
pub(super) struct Cutter {
    /// Buffers to be used again.
    pub(super) spare: Vec<Vec<u8>>,
    options: StatementsOptions,
    /// The client's character set now.
    charset: Charset,
    delimiter: Vec<u8>,
    text: Vec<u8>,
    flushed: usize,
    /// Where `text` begins; holds while `text` is not empty.
    start: Place,
    lexical: Lexical,
    /// The quote that plain text is followed by.
    likely_quote: u8,
    /// Size of the last statement, as a guess of the next.
    last_bytes: usize,
    #[cfg(test)]
    pub(super) slow: bool,
}

impl Cutter {
    pub(super) fn new(options: StatementsOptions) -> Cutter {
        Cutter {
            spare: Vec::new(),
            charset: options.dialect.charset,
            options,
            delimiter: DEFAULT_DELIMITER.to_vec(),
            text: Vec::new(),
            flushed: 0,
            start: Place::default(),
            lexical: Lexical::default(),
            likely_quote: b'\'',
            last_bytes: 0,
            #[cfg(test)]
            slow: false,
        }
    }

    /// Turns to a first input, as a client that was just started.
    pub(super) fn begin(&mut self) {
        self.enter(Lexical::default());
        self.charset = self.options.dialect.charset;
        self.delimiter = DEFAULT_DELIMITER.to_vec();
    }

    pub(super) fn set_modes(&mut self, dialect: &Dialect) {
        self.options.dialect.no_backslash_escapes = dialect.no_backslash_escapes;
        self.options.dialect.ansi_quotes = dialect.ansi_quotes;
    }

    /// Turns to another input, with the state in which it was left (or a new one), and gives the state of this one.
    pub(super) fn enter(&mut self, lexical: Lexical) -> Lexical {
        self.clear();
        std::mem::replace(&mut self.lexical, lexical)
    }

    /// The next thing in this input.
    pub(super) fn next(&mut self, window: &mut Window) -> Result<Cut, Error> {
        loop {
            if self.text.len() > self.options.statement_limit_bytes {
                let at = locate(window.name(), self.start);
                return Err(Error::TooLarge { at, limit_bytes: self.options.statement_limit_bytes });
            }
            let cut = match self.lexical.leaving {
                Some(place) => Some(self.send(window, Terminator::EndOfInput).unwrap_or(Cut::Quit { place })),
                None if self.lexical.at_line_start => self.begin_line(window)?,
                None => {
                    self.pass_plain_text(window);
                    self.step(window)?
                }
            };
            if let Some(cut) = cut {
                return Ok(cut);
            }
        }
    }

    fn begin_line(&mut self, window: &mut Window) -> Result<Option<Cut>, Error> {
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
        let place = window.place();
        window.advance(line.len());
        self.end_line(window);
        self.obey(command, &line, place, window, Terminator::Go)
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

    /// Takes over, in bulk, what cannot mean anything: the fast road.
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

    /// Looks at the next byte in all its meanings.
    fn step(&mut self, window: &mut Window) -> Result<Option<Cut>, Error> {
        window.ensure(LOOKAHEAD_BYTES.max(self.delimiter.len() + 2))?;
        let ahead = window.ahead();
        let Some(&byte) = ahead.first() else { return self.end_of_input(window).map(Some) };
        if self.line_end(ahead).is_some() {
            self.end_line(window);
            return Ok(None);
        }
        if byte == 0 && !self.options.binary_mode {
            let place = window.place();
            return Err(Error::Nul { at: locate(window.name(), place) });
        }
        let near = self.near(ahead);
        let character_length = self.charset.character_length(near);
        if character_length > 1 {
            self.pass_character(window, character_length);
            return Ok(None);
        }
        if is_space(byte) && self.text.is_empty() && !self.options.comments {
            window.advance(1);
            return Ok(None);
        }
        let in_text = self.lexical.comment.is_none();
        let outside = in_text && self.lexical.quote.is_none();
        let starts_comment = near.starts_with(b"/*") && !near[2..].starts_with(b"!") && !near[2..].starts_with(b"M!");
        if byte == b'\\' && in_text && self.lexical.quote.is_none_or(|quote| self.escapes_in(quote)) {
            return self.backslash(window);
        }
        if outside && near.starts_with(&self.delimiter) {
            return self.delimiter(window);
        }
        if outside && (byte == b'#' || self.starts_dash_comment(near)) {
            return self.line_comment(window);
        }
        if self.lexical.quote.is_none() && starts_comment {
            let place = window.place();
            self.skip_or_accept(window, 2);
            self.flushed = self.text.len();
            self.lexical.comment = Some(self.lexical.comment.unwrap_or(place));
        } else if !in_text && !self.lexical.in_version_comment && near.starts_with(b"*/") {
            self.skip_or_accept(window, 2);
            self.flushed = self.text.len();
            self.lexical.comment = None;
            self.lexical.blank_is_due = true;
        } else {
            self.ordinary(window);
        }
        Ok(None)
    }

    fn starts_dash_comment(&self, near: &[u8]) -> bool {
        near.starts_with(b"--") && (near.get(2).is_none_or(|&next| is_space(next)) || self.text.is_empty())
    }

    fn ordinary(&mut self, window: &mut Window) {
        let near = self.near(window.ahead());
        let byte = near[0];
        if self.lexical.quote.is_none() {
            if near.starts_with(b"/*!") {
                self.lexical.in_version_comment = true;
            } else if near.starts_with(b"*/") {
                self.lexical.in_version_comment = false;
            }
        }
        if self.lexical.quote == Some(byte) {
            self.lexical.quote = None;
        } else if self.lexical.comment.is_none() && self.lexical.quote.is_none() && matches!(byte, b'\'' | b'"' | b'`')
        {
            self.lexical.quote = Some(byte);
        }
        self.pass_character(window, 1);
    }

    /// Takes a character that has no meaning of its own into the statement, or leaves it out with its comment.
    fn pass_character(&mut self, window: &mut Window, length: usize) {
        if self.lexical.comment.is_some() && !self.options.comments {
            window.advance(length);
            return;
        }
        // The client forgets the blank before a character of several bytes, and so joins two words. That is not copied.
        if std::mem::take(&mut self.lexical.blank_is_due) && !is_space(window.ahead()[0]) {
            self.begin_text(window);
            self.text.push(b' ');
        }
        self.accept(window, length);
    }

    fn begin_text(&mut self, window: &mut Window) {
        if self.text.is_empty() {
            self.start = window.place();
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

    /// Leaves out, or takes over, all up to the end of the line.
    fn pass_line(&mut self, window: &mut Window) -> Result<(), Error> {
        loop {
            window.ensure(LOOKAHEAD_BYTES)?;
            let ahead = window.ahead();
            if ahead.is_empty() || self.line_end(ahead).is_some() {
                return Ok(());
            }
            // A carriage return that is last in the window, or in the middle of a line, is passed on its own.
            let length = memchr::memchr2(b'\n', b'\r', &ahead[1..]).map_or(ahead.len(), |end| end + 1);
            if !self.options.binary_mode && memchr::memchr(0, &ahead[..length]).is_some() {
                let place = window.place();
                return Err(Error::Nul { at: locate(window.name(), place) });
            }
            self.skip_or_accept(window, length);
        }
    }

    fn line_comment(&mut self, window: &mut Window) -> Result<Option<Cut>, Error> {
        self.flushed = self.text.len();
        let stands_alone = self.text.is_empty();
        self.pass_line(window)?;
        if self.options.comments && stands_alone {
            return Ok(self.send(window, Terminator::Comment));
        }
        Ok(None)
    }

    fn delimiter(&mut self, window: &mut Window) -> Result<Option<Cut>, Error> {
        window.advance(self.delimiter.len());
        if self.options.comments {
            self.trailing_comment(window)?;
        }
        match command::by_text(&self.text, &self.delimiter, self.options.binary_mode) {
            Some(command) => {
                let text = std::mem::take(&mut self.text);
                self.flushed = 0;
                if command.action == Action::Quit || command.action == Action::Send {
                    // The client leaves the word in its buffer, and sends it.
                    self.text.clone_from(&text);
                }
                self.obey(command, &text, self.start, window, Terminator::Delimiter)
            }
            None => Ok(self.send(window, Terminator::Delimiter)),
        }
    }

    /// With comments kept, the line comment behind a delimiter belongs to the statement.
    fn trailing_comment(&mut self, window: &mut Window) -> Result<(), Error> {
        loop {
            window.ensure(LOOKAHEAD_BYTES)?;
            match window.ahead() {
                ahead @ [byte, ..] if is_space(*byte) && self.line_end(ahead).is_none() => self.accept(window, 1),
                _ => break,
            }
        }
        let near = self.near(window.ahead());
        let is_comment =
            near.starts_with(b"#") || (near.starts_with(b"--") && near.get(2).is_some_and(|&next| is_space(next)));
        if is_comment { self.pass_line(window) } else { Ok(()) }
    }

    /// A backslash: within a string it takes the next byte along, outside it may begin a client command.
    fn backslash(&mut self, window: &mut Window) -> Result<Option<Cut>, Error> {
        let near = self.near(window.ahead());
        let Some(&letter) = near.get(1) else {
            // The client drops a backslash that ends a line, within strings too. (In binary mode it goes on behind its
            // buffer's end when that happens in a string. That is not copied.)
            if self.options.binary_mode && self.lexical.quote.is_some() {
                self.accept(window, 1);
            } else {
                window.advance(1);
            }
            return Ok(None);
        };
        if self.lexical.quote.is_some() || letter == b'N' {
            self.accept(window, 2);
            return Ok(None);
        }
        let place = window.place();
        let Some(command) = command::by_letter(letter, self.options.binary_mode) else {
            self.accept(window, 2);
            return Err(Error::UnknownCommand { at: locate(window.name(), place), letter });
        };
        self.flushed = self.text.len();
        if !command.takes_argument {
            window.advance(2);
            return self.obey(command, b"", place, window, Terminator::Go);
        }
        let line = self.rest_of_line(window)?;
        let taken = self.obey(command, &line, place, window, Terminator::Go);
        // The delimiter may be another one now.
        let argument = &line[2..];
        let length = if self.lexical.in_version_comment {
            memchr::memmem::find(argument, b"*/").unwrap_or(argument.len())
        } else {
            memchr::memmem::find(argument, &self.delimiter).map_or(argument.len(), |found| found + self.delimiter.len())
        };
        window.advance(2 + length);
        taken
    }

    fn rest_of_line(&self, window: &mut Window) -> Result<Vec<u8>, Error> {
        let mut wanted = 256;
        loop {
            window.ensure(wanted)?;
            let ahead = window.ahead();
            let newline = memchr::memchr(b'\n', ahead);
            if newline.is_some() || ahead.len() < wanted || wanted >= COMMAND_LINE_LIMIT_BYTES {
                let line = newline.map_or(ahead, |newline| self.without_carriage_return(&ahead[..newline]));
                return Ok(line.to_vec());
            }
            wanted *= 8;
        }
    }

    /// Carries a client command out. `text` is all of it, as [`command::argument`] reads it.
    fn obey(
        &mut self,
        command: &'static Command,
        text: &[u8],
        place: Place,
        window: &mut Window,
        terminator: Terminator,
    ) -> Result<Option<Cut>, Error> {
        let at = || locate(window.name(), place);
        let needs = |rule| Err(Error::Argument { at: at(), rule });
        match command.action {
            Action::Clear => self.clear(),
            Action::Charset => {
                let Some(name) = command::argument(text) else { return needs("charset must be followed by a name") };
                let Some(charset) = Charset::known(&name) else {
                    return needs("charset is followed by what is not the name of a character set");
                };
                self.charset = charset;
                return Ok(Some(Cut::Charset { name, place }));
            }
            Action::Delimiter => match command::argument(text) {
                None => return needs("DELIMITER must be followed by a delimiter"),
                Some(delimiter) if delimiter.contains(&b'\\') => {
                    return needs("DELIMITER cannot contain a backslash");
                }
                Some(delimiter) => {
                    self.delimiter = delimiter;
                    self.delimiter.truncate(DELIMITER_LIMIT_BYTES);
                }
            },
            Action::IgnoreBare if command::argument(text).is_some() => {
                return Err(Error::Refused { at: at(), name: command.name });
            }
            Action::Ignore | Action::IgnoreBare => return Ok(Some(Cut::Ignored { name: command.name, place })),
            Action::Quit => self.lexical.leaving = Some(place),
            Action::Refuse if self.lexical.sandboxed => {
                return Err(Error::Sandboxed { at: at(), name: command.name });
            }
            Action::Refuse => return Err(Error::Refused { at: at(), name: command.name }),
            Action::Sandbox => self.lexical.sandboxed = true,
            Action::Send => return Ok(self.send(window, terminator)),
            Action::Source if self.lexical.sandboxed => {
                return Err(Error::Sandboxed { at: at(), name: command.name });
            }
            Action::Source => {
                let Some(file) = command::source_file(text) else { return needs("source must be followed by a file") };
                return Ok(Some(Cut::Source { file: file.to_vec(), place }));
            }
            Action::Use => {
                let Some(database) = command::argument(text) else {
                    return needs("USE must be followed by a database name");
                };
                return Ok(Some(Cut::Use { database, place }));
            }
        }
        Ok(None)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.flushed = 0;
    }

    /// Hands the statement over, if there is more in it than blanks and control characters.
    fn send(&mut self, window: &Window, terminator: Terminator) -> Option<Cut> {
        self.flushed = 0;
        while let Some(0..=b' ' | 0x7f) = self.text.last() {
            self.text.pop();
        }
        if self.text.is_empty() {
            return None;
        }
        let text = std::mem::take(&mut self.text);
        self.last_bytes = text.len();
        Some(Cut::Statement { text, place: self.start, end_byte: window.byte(), terminator })
    }

    fn end_of_input(&mut self, window: &Window) -> Result<Cut, Error> {
        if !std::mem::replace(&mut self.lexical.complained, true) {
            let open = match (self.lexical.comment, self.lexical.quote) {
                (Some(place), _) => Some((place, "the comment that begins")),
                (None, Some(b'`')) => Some((self.start, "a quoted name in the statement that begins")),
                (None, Some(_)) => Some((self.start, "a string in the statement that begins")),
                (None, None) => None,
            };
            if let Some((place, what)) = open {
                return Err(Error::Unterminated { at: locate(window.name(), place), what });
            }
        }
        Ok(self.send(window, Terminator::EndOfInput).unwrap_or(Cut::End))
    }
}
