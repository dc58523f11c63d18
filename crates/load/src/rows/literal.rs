//! The literals of `VALUES (…), (…)`: where each stands and what kind it is.
//!
//! Only what needs no evaluation is a literal here: numbers, strings, hexadecimal and bit strings, NULL and DEFAULT.
//! Anything else ends the scan with [`NotLiteral`], and the statement then travels as written. Values are not converted,
//! only located; numbers that fit 64 bits are read, because their range decides how they travel.

use memchr::{memchr, memchr2};

use crate::lexer::{Charset, Dialect};

/// Literals of one statement that are located: 16 bytes each. A statement of more travels as written.
const LITERALS_LIMIT: usize = 1 << 20;

/// What a literal is, as the server's parser would see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// NULL.
    Null,
    /// DEFAULT.
    Default,
    /// A whole number within `i64`.
    Signed,
    /// A whole number above `i64::MAX` within `u64`.
    Unsigned,
    /// A number with a decimal point, or a whole one beyond 64 bits.
    Decimal,
    /// A number with an exponent.
    Float,
    /// A quoted string without escapes.
    Plain,
    /// A quoted string with backslash escapes or doubled quotes.
    Escaped,
    /// `_binary '…'` without escapes.
    BinaryPlain,
    /// `_binary '…'` with escapes.
    BinaryEscaped,
    /// `0x…` or `x'…'`: its range holds the digits.
    Hex,
    /// `b'…'`: at most 64 bits, read as a number.
    Bits,
}

impl LiteralKind {
    /// This kind as one bit of a set of kinds.
    #[must_use]
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// One literal: its kind, and either its bytes' place in the statement or its value.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    /// What it is.
    pub kind: LiteralKind,
    /// Where its content starts: behind the opening quote of a string.
    start: u32,
    /// The number for `Signed`, `Unsigned` and `Bits` (its bits); else the end of the content.
    word: u64,
}

impl Literal {
    /// Its content in the statement's text: digits of a number, inside of a string.
    #[must_use]
    pub fn content<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start as usize..self.word as usize]
    }

    /// A string with its quotes.
    pub(super) fn quoted<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start as usize - 1..=self.word as usize]
    }

    /// The value of a `Signed` literal.
    #[must_use]
    pub const fn signed(&self) -> i64 {
        self.word.cast_signed()
    }

    /// The value of an `Unsigned` or `Bits` literal.
    #[must_use]
    pub const fn unsigned(&self) -> u64 {
        self.word
    }
}

/// What one column's literals have in common over a whole statement.
#[derive(Clone, Copy, Debug)]
pub struct ColumnRange {
    /// The kinds seen, each as its [`LiteralKind::bit`].
    pub kinds: u16,
    /// The smallest `Signed` value.
    pub min: i64,
    /// The largest `Signed` value.
    pub max: i64,
}

impl Default for ColumnRange {
    fn default() -> Self {
        Self { kinds: 0, min: i64::MAX, max: i64::MIN }
    }
}

/// All tuples of a statement.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    /// Row after row, each of [`Tuples::width`] literals.
    pub literals: Vec<Literal>,
    /// What each column holds.
    pub columns: Vec<ColumnRange>,
    /// Where each row begins in the text.
    starts: Vec<u32>,
}

impl Tuples {
    /// Literals in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Where a row begins in the text: at its parenthesis.
    #[must_use]
    pub fn start(&self, row: usize) -> usize {
        self.starts[row] as usize
    }
}

/// The text holds something that must be evaluated, or is no list of tuples at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLiteral;

/// Reads all tuples from `offset` to the end of `text` into `tuples`, whose memory is used again.
///
/// # Errors
/// [`NotLiteral`] at the first thing that is none, where rows differ in width, for texts of 4 GiB and more, for more than `LITERALS_LIMIT`
/// literals, and in character sets in which a byte of a longer character may look like a quote.
pub fn scan(text: &[u8], offset: usize, dialect: &Dialect, tuples: &mut Tuples) -> Result<(), NotLiteral> {
    tuples.literals.clear();
    tuples.columns.clear();
    tuples.starts.clear();
    if u32::try_from(text.len()).is_err() || dialect.charset != Charset::AsciiSafe {
        return Err(NotLiteral);
    }
    let mut scanner = Scanner { text, position: offset, dialect };
    let mut first = true;
    loop {
        scanner.expect(b'(')?;
        // It fits: longer texts are refused above.
        tuples.starts.push(scanner.position as u32 - 1);
        let mut column = 0;
        loop {
            let literal = scanner.literal()?;
            if first {
                tuples.columns.push(ColumnRange::default());
            }
            let range = tuples.columns.get_mut(column).ok_or(NotLiteral)?;
            range.kinds |= literal.kind.bit();
            if literal.kind == LiteralKind::Signed {
                range.min = range.min.min(literal.signed());
                range.max = range.max.max(literal.signed());
            }
            if tuples.literals.len() == LITERALS_LIMIT {
                return Err(NotLiteral);
            }
            tuples.literals.push(literal);
            column += 1;
            match scanner.next_symbol()? {
                b',' => {}
                b')' => break,
                _ => return Err(NotLiteral),
            }
        }
        if column != tuples.columns.len() {
            return Err(NotLiteral);
        }
        first = false;
        scanner.skip_space();
        match scanner.peek() {
            None => return Ok(()),
            Some(b',') => scanner.position += 1,
            Some(_) => return Err(NotLiteral),
        }
    }
}

struct Scanner<'a> {
    text: &'a [u8],
    position: usize,
    dialect: &'a Dialect,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.position += 1;
        }
    }

    /// The next byte that is not space, stepped over.
    fn next_symbol(&mut self) -> Result<u8, NotLiteral> {
        self.skip_space();
        let byte = self.peek().ok_or(NotLiteral)?;
        self.position += 1;
        Ok(byte)
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotLiteral> {
        if self.next_symbol()? == byte { Ok(()) } else { Err(NotLiteral) }
    }

    fn literal(&mut self) -> Result<Literal, NotLiteral> {
        self.skip_space();
        match self.peek().ok_or(NotLiteral)? {
            b'\'' => self.string(b'\'', LiteralKind::Plain, LiteralKind::Escaped),
            b'"' if !self.dialect.ansi_quotes => self.string(b'"', LiteralKind::Plain, LiteralKind::Escaped),
            b'0' if matches!(self.text.get(self.position + 1), Some(b'x')) => self.hex_number(),
            b'0'..=b'9' | b'-' | b'.' => self.number(),
            b'x' | b'X' if self.text.get(self.position + 1) == Some(&b'\'') => self.hex_string(),
            b'b' | b'B' if self.text.get(self.position + 1) == Some(&b'\'') => self.bits(),
            b'_' => self.binary_string(),
            b'N' | b'n' => self.word(b"NULL", LiteralKind::Null),
            b'D' | b'd' => self.word(b"DEFAULT", LiteralKind::Default),
            _ => Err(NotLiteral),
        }
    }

    fn word(&mut self, word: &[u8], kind: LiteralKind) -> Result<Literal, NotLiteral> {
        let end = self.position + word.len();
        let found = self.text.get(self.position..end).ok_or(NotLiteral)?;
        if !found.eq_ignore_ascii_case(word) || self.text.get(end).is_some_and(|&byte| continues_word(byte)) {
            return Err(NotLiteral);
        }
        self.position = end;
        Ok(self.place(kind, end, end))
    }

    fn number(&mut self) -> Result<Literal, NotLiteral> {
        let start = self.position;
        let negative = self.peek() == Some(b'-');
        let mut at = start + usize::from(negative);
        let digits_start = at;
        let mut value: u64 = 0;
        let mut fits = true;
        while let Some(digit @ b'0'..=b'9') = self.text.get(at) {
            let next = value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
            fits &= next.is_some();
            value = next.unwrap_or(0);
            at += 1;
        }
        let whole_digits = at - digits_start;
        let mut kind = LiteralKind::Signed;
        let mut fraction_digits = 0;
        if self.text.get(at) == Some(&b'.') {
            kind = LiteralKind::Decimal;
            let fraction_start = at + 1;
            at = fraction_start;
            while let Some(b'0'..=b'9') = self.text.get(at) {
                at += 1;
            }
            fraction_digits = at - fraction_start;
        }
        if whole_digits + fraction_digits == 0 {
            return Err(NotLiteral);
        }
        if let Some(b'e' | b'E') = self.text.get(at) {
            kind = LiteralKind::Float;
            at += 1;
            if let Some(b'+' | b'-') = self.text.get(at) {
                at += 1;
            }
            let exponent_start = at;
            while let Some(b'0'..=b'9') = self.text.get(at) {
                at += 1;
            }
            if at == exponent_start {
                return Err(NotLiteral);
            }
        }
        if self.text.get(at).is_some_and(|&byte| continues_word(byte)) {
            return Err(NotLiteral);
        }
        self.position = at;
        if kind != LiteralKind::Signed {
            return Ok(self.place(kind, start, at));
        }
        let literal = |kind, word| Literal { kind, start: 0, word };
        match (fits, negative, i64::try_from(value)) {
            (true, false, Ok(value)) => Ok(literal(LiteralKind::Signed, value.cast_unsigned())),
            (true, true, Ok(value)) => Ok(literal(LiteralKind::Signed, (-value).cast_unsigned())),
            (true, false, Err(_)) => Ok(literal(LiteralKind::Unsigned, value)),
            (false, false, _) => Ok(self.place(LiteralKind::Decimal, start, at)),
            // The server negates what it read as an unsigned number or a decimal: rules of its own, left to it.
            (_, true, _) => Err(NotLiteral),
        }
    }

    /// A quoted string, from its opening quote.
    fn string(&mut self, quote: u8, plain: LiteralKind, escaped: LiteralKind) -> Result<Literal, NotLiteral> {
        let start = self.position + 1;
        let mut at = start;
        let mut kind = plain;
        loop {
            let rest = self.text.get(at..).ok_or(NotLiteral)?;
            let found =
                if self.dialect.no_backslash_escapes { memchr(quote, rest) } else { memchr2(quote, b'\\', rest) };
            at += found.ok_or(NotLiteral)?;
            if self.text[at] == b'\\' || self.text.get(at + 1) == Some(&quote) {
                kind = escaped;
                at += 2;
            } else {
                break;
            }
        }
        self.position = at + 1;
        Ok(self.place(kind, start, at))
    }

    fn binary_string(&mut self) -> Result<Literal, NotLiteral> {
        const INTRODUCER: &[u8] = b"_binary";
        let end = self.position + INTRODUCER.len();
        if !self.text.get(self.position..end).is_some_and(|found| found.eq_ignore_ascii_case(INTRODUCER)) {
            return Err(NotLiteral);
        }
        self.position = end;
        self.skip_space();
        match self.peek() {
            Some(b'\'') => self.string(b'\'', LiteralKind::BinaryPlain, LiteralKind::BinaryEscaped),
            _ => Err(NotLiteral),
        }
    }

    fn hex_number(&mut self) -> Result<Literal, NotLiteral> {
        let start = self.position + 2;
        let digits = self.text[start..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let end = start + digits;
        // An odd number of digits stands for a leading zero: left to the server.
        if digits == 0 || digits % 2 == 1 || self.text.get(end).is_some_and(|&byte| continues_word(byte)) {
            return Err(NotLiteral);
        }
        self.position = end;
        Ok(self.place(LiteralKind::Hex, start, end))
    }

    fn hex_string(&mut self) -> Result<Literal, NotLiteral> {
        let start = self.position + 2;
        let end = start + memchr(b'\'', &self.text[start..]).ok_or(NotLiteral)?;
        let digits = &self.text[start..end];
        if digits.len() % 2 == 1 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(NotLiteral);
        }
        self.position = end + 1;
        Ok(self.place(LiteralKind::Hex, start, end))
    }

    fn bits(&mut self) -> Result<Literal, NotLiteral> {
        let start = self.position + 2;
        let end = start + memchr(b'\'', &self.text[start..]).ok_or(NotLiteral)?;
        let digits = &self.text[start..end];
        if digits.is_empty() || digits.len() > 64 || !digits.iter().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(NotLiteral);
        }
        let word = digits.iter().fold(0, |value, digit| value << 1 | u64::from(digit - b'0'));
        self.position = end + 1;
        Ok(Literal { kind: LiteralKind::Bits, start: 0, word })
    }

    /// `start` fits: [`scan`] refuses longer texts.
    fn place(&self, kind: LiteralKind, start: usize, end: usize) -> Literal {
        debug_assert!(start <= end && end <= self.text.len());
        Literal { kind, start: start as u32, word: end as u64 }
    }
}

/// Whether a byte behind a number or a word would make it another token.
pub(super) const fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'@' | b'\'' | b'"' | b'`') || byte >= 0x80
}
