//! One byte in all its meanings: strings, comments, delimiters, plain text.

use super::{LOOKAHEAD_BYTES, Split, Splitter};
use crate::input::Window;
use crate::lexer::command::{self, Action, is_space};
use crate::lexer::error::Error;
use crate::lexer::statements::{Terminator, locate};

impl Splitter {
    /// Looks at the next byte in all its meanings.
    pub(super) fn step(&mut self, window: &mut Window) -> Result<Option<Split>, Error> {
        window.ensure(LOOKAHEAD_BYTES.max(self.delimiter.len() + 2))?;
        let ahead = window.ahead();
        let Some(&byte) = ahead.first() else { return self.end_of_input(window).map(Some) };
        if self.line_end(ahead).is_some() {
            self.end_line(window);
            return Ok(None);
        }
        if byte == 0 && !self.options.binary_mode {
            let position = window.position();
            return Err(Error::Nul { at: locate(window.name(), position) });
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
            let position = window.position();
            self.skip_or_accept(window, 2);
            self.flushed = self.text.len();
            self.lexical.comment = Some(self.lexical.comment.unwrap_or(position));
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
    pub(super) fn pass_character(&mut self, window: &mut Window, length: usize) {
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
            if !self.options.binary_mode
                && let Some(nul) = memchr::memchr(0, &ahead[..length])
            {
                window.advance(nul);
                let position = window.position();
                return Err(Error::Nul { at: locate(window.name(), position) });
            }
            self.skip_or_accept(window, length);
        }
    }

    fn line_comment(&mut self, window: &mut Window) -> Result<Option<Split>, Error> {
        self.flushed = self.text.len();
        let stands_alone = self.text.is_empty();
        self.pass_line(window)?;
        if self.options.comments && stands_alone {
            return Ok(self.send(window, Terminator::Comment));
        }
        Ok(None)
    }

    fn delimiter(&mut self, window: &mut Window) -> Result<Option<Split>, Error> {
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
                self.run_command(command, &text, self.start, window, Terminator::Delimiter)
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
}
