//! The tokens of one statement, for those who must know what a statement does. It reads, it does not judge: keywords
//! are plain words here, and any bytes at all give some tokens.

use std::borrow::Cow;

use memchr::memmem;

use super::dialect::{CommentOpening, Dialect};
use super::quoted::{decode, end_of_quoted};

/// One token and where it stands in the statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Byte offset of its first byte in the text.
    pub offset: usize,
    /// Byte offset behind its last byte.
    pub end: usize,
}

impl Token<'_> {
    /// True for an unquoted word with these letters, in any case.
    pub fn is_word(&self, word: &[u8]) -> bool {
        matches!(self.kind, Kind::Word(found) if found.eq_ignore_ascii_case(word))
    }

    /// True for exactly this symbol.
    pub fn is_symbol(&self, symbol: &[u8]) -> bool {
        matches!(self.kind, Kind::Symbol(found) if found == symbol)
    }
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A keyword or an unquoted name, as written. An introducer such as `_binary` is a word before its string.
    Word(&'a [u8]),
    /// A name in backticks (or, with ANSI_QUOTES, in double quotes, or, with MSSQL, in brackets), decoded.
    QuotedIdentifier(Cow<'a, [u8]>),
    /// A string literal as written, with its quotes, and with its `N` where it is `N'…'`. See [`decode_string`].
    String(&'a [u8]),
    /// A number as written, without sign: `12`, `1.5e-3`, `0xff`, `x'ff'`, `0b1`, `b'1'`.
    Number(&'a [u8]),
    /// `@name`, without the `@` and decoded. The host of `user@host` looks the same.
    UserVariable(Cow<'a, [u8]>),
    /// `@@name` or `@@scope.name`, without the `@@`, as written.
    SystemVariable(&'a [u8]),
    /// An operator or a punctuation mark, of one to three bytes.
    Symbol(&'a [u8]),
}

/// The tokens of `text`, one statement, as this target reads them. Comments are left out; the content of a version
/// comment that the target executes is in. A string or comment without an end reaches to the end of the text.
pub fn tokens<'a>(text: &'a [u8], dialect: &Dialect) -> Tokens<'a> {
    Tokens { text, position: 0, dialect: *dialect, in_executed_comment: false, previous: Previous::Other }
}

/// The value of a string literal as [`Kind::String`] gives it: quotes off, doubled quotes and escapes resolved.
/// `\%` and `\_` keep their backslash, as the server has it.
pub fn decode_string<'a>(raw: &'a [u8], dialect: &Dialect) -> Cow<'a, [u8]> {
    let quoted = raw.strip_prefix(b"N").or_else(|| raw.strip_prefix(b"n")).unwrap_or(raw);
    decode(quoted, dialect.charset, !dialect.no_backslash_escapes)
}

/// Iterator over the tokens of one statement; see [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a [u8],
    position: usize,
    dialect: Dialect,
    in_executed_comment: bool,
    previous: Previous,
}

/// What stands directly before, without a blank: `t.1e5` is two names and a dot, `t .1e5` a name and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    Name { end: usize },
    Dot,
    Other,
}

const SYMBOLS: [&[u8]; 13] =
    [b"<=>", b"->>", b"<=", b">=", b"<>", b"!=", b":=", b"||", b"&&", b"<<", b">>", b"->", b"**"];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

impl<'a> Tokens<'a> {
    /// Byte offset behind the last token that was given.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Whether the last token that was given stands in a version comment.
    pub fn is_in_executed_comment(&self) -> bool {
        self.in_executed_comment
    }

    fn at(&self, offset: usize) -> Option<u8> {
        self.text.get(offset).copied()
    }

    /// Moves past white space and what this target takes for comments.
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.at(self.position) {
            let rest = &self.text[self.position..];
            match byte {
                _ if is_space(byte) || byte == 0 => self.position += 1,
                b'#' => self.skip_line(),
                b'-' if rest.starts_with(b"--")
                    && rest.get(2).is_none_or(|&next| is_space(next) || next.is_ascii_control()) =>
                {
                    self.skip_line();
                }
                b'/' if rest.starts_with(b"/*") => match self.dialect.comment_opening(rest) {
                    CommentOpening::Plain => {
                        self.position = find_from(self.text, self.position + 2, b"*/");
                    }
                    CommentOpening::Skipped => self.skip_version_comment(),
                    CommentOpening::Executed { length } => {
                        self.position += length;
                        self.in_executed_comment = true;
                    }
                },
                b'*' if self.in_executed_comment && rest.starts_with(b"*/") => {
                    self.position += 2;
                    self.in_executed_comment = false;
                }
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.position..];
        self.position += memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
    }

    /// Skips a version comment that is not for this target: comments in it nest one deep.
    fn skip_version_comment(&mut self) {
        self.position += 2;
        loop {
            let end = find_from(self.text, self.position, b"*/");
            match memmem::find(&self.text[self.position..end], b"/*") {
                Some(_) if end < self.text.len() => {
                    self.position = end;
                }
                _ => {
                    self.position = end;
                    return;
                }
            }
        }
    }

    fn name_end(&self, from: usize) -> usize {
        let mut end = from;
        while let Some(byte) = self.at(end) {
            let length = self.dialect.charset.character_length(&self.text[end..]);
            if length == 1 && !is_name_byte(byte) {
                break;
            }
            end += length;
        }
        end
    }

    /// The end of the quoted piece that starts at `from` with its quote.
    fn quoted_end(&self, from: usize) -> usize {
        let quote = self.text[from];
        let escapes = !self.dialect.no_backslash_escapes && !self.is_name_quote(quote);
        from + end_of_quoted(&self.text[from..], self.dialect.charset, escapes)
    }

    fn is_name_quote(&self, byte: u8) -> bool {
        byte == b'`' || (byte == b'"' && self.dialect.ansi_quotes) || (byte == b'[' && self.dialect.brackets)
    }

    fn decode_name(&self, from: usize, end: usize) -> Cow<'a, [u8]> {
        decode(&self.text[from..end], self.dialect.charset, false)
    }

    /// A number or, where letters follow, a name that begins with digits. Returns its end and whether it is a number.
    fn number_end(&self, from: usize) -> (usize, bool) {
        let word_end = self.name_end(from);
        let word = &self.text[from..word_end];
        let prefixed = |prefix: &[u8], is_digit: fn(&u8) -> bool| {
            word.len() > 2 && word.starts_with(prefix) && word[2..].iter().all(is_digit)
        };
        if prefixed(b"0x", u8::is_ascii_hexdigit) || prefixed(b"0b", |digit| matches!(digit, b'0' | b'1')) {
            return (word_end, true);
        }
        let digits_end = |at: usize| at + self.text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits_end(from);
        let whole = end > from;
        if self.at(end) == Some(b'.') {
            end = digits_end(end + 1);
        } else if whole && end < word_end && !matches!(self.text[end], b'e' | b'E') {
            return (word_end, false);
        }
        if matches!(self.at(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.at(end + 1), Some(b'+' | b'-')));
            let exponent_end = digits_end(end + 1 + sign);
            if exponent_end > end + 1 + sign {
                end = exponent_end;
            } else if end < word_end {
                return (word_end, false);
            }
        }
        (end, true)
    }

    /// `@name`, `@'name'`, `@@name`; `from` is at the first `@`.
    fn variable(&self, from: usize) -> (Kind<'a>, usize) {
        let dotted_end = |mut at: usize| loop {
            at = match self.at(at) {
                Some(b'`') => self.quoted_end(at),
                _ => self.name_end(at),
            };
            if self.at(at) != Some(b'.') {
                return at;
            }
            at += 1;
        };
        match self.at(from + 1) {
            Some(b'@') => {
                let end = dotted_end(from + 2);
                (Kind::SystemVariable(&self.text[from + 2..end]), end)
            }
            Some(quote @ (b'\'' | b'"' | b'`')) => {
                let end = self.quoted_end(from + 1);
                let escapes = !self.dialect.no_backslash_escapes && !self.is_name_quote(quote);
                (Kind::UserVariable(decode(&self.text[from + 1..end], self.dialect.charset, escapes)), end)
            }
            Some(byte) if is_name_byte(byte) || byte == b'.' => {
                let mut end = self.name_end(from + 1);
                while self.at(end) == Some(b'.') {
                    end = self.name_end(end + 1);
                }
                (Kind::UserVariable(Cow::Borrowed(&self.text[from + 1..end])), end)
            }
            _ => (Kind::Symbol(&self.text[from..=from]), from + 1),
        }
    }

    fn word(&self, from: usize) -> (Kind<'a>, usize) {
        if self.at(from + 1) == Some(b'\'') && self.previous != Previous::Dot {
            let end = self.quoted_end(from + 1);
            match self.text[from] {
                b'n' | b'N' => return (Kind::String(&self.text[from..end]), end),
                b'x' | b'X' | b'b' | b'B' => return (Kind::Number(&self.text[from..end]), end),
                _ => {}
            }
        }
        let end = self.name_end(from);
        (Kind::Word(&self.text[from..end]), end)
    }

    fn symbol(&self, from: usize) -> (Kind<'a>, usize) {
        let rest = &self.text[from..];
        let length = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol)).map_or(1, |symbol| symbol.len());
        // NULL as the client's `\N`.
        let length = if rest.starts_with(b"\\N") { 2 } else { length };
        (Kind::Symbol(&rest[..length]), from + length)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let from = self.position;
        let byte = self.at(from)?;
        let next_is_digit = self.at(from + 1).is_some_and(|next| next.is_ascii_digit());
        let behind_name = self.previous == Previous::Name { end: from };
        let (kind, end) = match byte {
            b'\'' => {
                let end = self.quoted_end(from);
                (Kind::String(&self.text[from..end]), end)
            }
            _ if self.is_name_quote(byte) => {
                let end = self.quoted_end(from);
                (Kind::QuotedIdentifier(self.decode_name(from, end)), end)
            }
            b'"' => {
                let end = self.quoted_end(from);
                (Kind::String(&self.text[from..end]), end)
            }
            b'@' => self.variable(from),
            b'.' if behind_name => (Kind::Symbol(b"."), from + 1),
            b'0'..=b'9' | b'.' if self.previous != Previous::Dot && (byte != b'.' || next_is_digit) => {
                let (end, is_number) = self.number_end(from);
                let raw = &self.text[from..end];
                (if is_number { Kind::Number(raw) } else { Kind::Word(raw) }, end)
            }
            _ if is_name_byte(byte) => self.word(from),
            _ => self.symbol(from),
        };
        self.previous = match kind {
            Kind::Word(_) | Kind::QuotedIdentifier(_) => Previous::Name { end },
            Kind::Symbol(b".") if behind_name => Previous::Dot,
            _ => Previous::Other,
        };
        self.position = end;
        Some(Token { kind, offset: from, end })
    }
}

/// Position behind the next `needle`, or the end of the text.
fn find_from(text: &[u8], from: usize, needle: &[u8]) -> usize {
    let from = from.min(text.len());
    memmem::find(&text[from..], needle).map_or(text.len(), |found| from + found + needle.len())
}
