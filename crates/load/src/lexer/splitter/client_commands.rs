//! The commands of the client within a dump: met behind a backslash, and carried out.

use super::{COMMAND_LINE_LIMIT_BYTES, DELIMITER_LIMIT_BYTES, Split, Splitter};
use crate::input::{Position, Window};
use crate::lexer::Charset;
use crate::lexer::command::{self, Action, Command};
use crate::lexer::error::Error;
use crate::lexer::statements::{Terminator, locate};

impl Splitter {
    /// A backslash: within a string it takes the next byte along, outside it may begin a client command.
    pub(super) fn backslash(&mut self, window: &mut Window) -> Result<Option<Split>, Error> {
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
        let position = window.position();
        let Some(command) = command::by_letter(letter, self.options.binary_mode) else {
            self.accept(window, 2);
            return Err(Error::UnknownCommand { at: locate(window.name(), position), letter });
        };
        self.flushed = self.text.len();
        if !command.takes_argument {
            window.advance(2);
            let terminator = if letter == b'G' { Terminator::GoVertical } else { Terminator::Go };
            return self.run_command(command, b"", position, window, terminator);
        }
        let line = self.rest_of_line(window)?;
        let taken = self.run_command(command, &line, position, window, Terminator::Go);
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
    pub(super) fn run_command(
        &mut self,
        command: &'static Command,
        text: &[u8],
        position: Position,
        window: &mut Window,
        terminator: Terminator,
    ) -> Result<Option<Split>, Error> {
        let at = || locate(window.name(), position);
        let needs = |rule| Err(Error::Argument { at: at(), rule });
        match command.action {
            Action::Clear => self.clear(),
            Action::Charset => {
                let Some(name) = command::argument(text) else { return needs("charset must be followed by a name") };
                let Some(charset) = Charset::known(&name) else {
                    return needs("charset must be followed by the name of a character set");
                };
                self.charset = charset;
                return Ok(Some(Split::Charset { name, position }));
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
            Action::Ignore | Action::IgnoreBare => return Ok(Some(Split::Ignored { name: command.name, position })),
            Action::Quit => self.lexical.leaving = Some(position),
            Action::Refuse | Action::Source if self.lexical.sandboxed => {
                return Err(Error::Sandboxed { at: at(), name: command.name });
            }
            Action::Refuse => return Err(Error::Refused { at: at(), name: command.name }),
            Action::Sandbox => self.lexical.sandboxed = true,
            Action::Send => return Ok(self.send(window, terminator)),
            Action::Source => {
                let Some(file) = command::source_file(text) else { return needs("source must be followed by a file") };
                return Ok(Some(Split::Source { file: file.to_vec(), position }));
            }
            Action::Use => {
                let Some(database) = command::argument(text) else {
                    return needs("USE must be followed by a database name");
                };
                return Ok(Some(Split::Use { database, position }));
            }
        }
        Ok(None)
    }
}
