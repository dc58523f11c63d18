//! The fast path through a statement: how many of the next bytes are plain text, 64 at a time, following one kind of
//! quote. It decides nothing; where a byte may mean something it stops, and the splitter looks at that byte.
//!
//! The method is that of "Parsing Gigabytes of JSON per Second" (Langdale, Lemire 2019): one bit per byte, strings as
//! the prefix sums of unescaped quotes.

/// What the scanner has to know of the state around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The quote that is followed: the open one, or the one to be expected most.
    pub(crate) quote: u8,
    /// Whether a backslash escapes within that quote.
    pub(crate) escapes: bool,
    /// First byte of the delimiter; not a quote.
    pub(crate) delimiter_first: u8,
    /// NUL and carriage return are bytes like any other.
    pub(crate) binary: bool,
}

/// How far plain text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Bytes that are plain text.
    pub(crate) length: usize,
    /// Whether these bytes end within the string that [`Rules::quote`] opens.
    pub(crate) in_string: bool,
}

const BLOCK: usize = 64;

/// What a byte may mean, as bits.
const QUOTE: u8 = 1;
const BACKSLASH: u8 = 1 << 1;
const NEWLINE: u8 = 1 << 2;
/// Means something outside of strings.
const OUTSIDE: u8 = 1 << 3;
/// Means something everywhere.
const ANYWHERE: u8 = 1 << 4;

/// Measures the plain text that `text` begins with; `in_string` says whether it begins within a string.
///
/// It stops before anything that the splitter must see: outside of strings a delimiter's first byte, another quote, the
/// start of a comment, a backslash; anywhere a carriage return or NUL (unless `binary`), a `d` that begins a line (the
/// client treats lines that begin with `delimiter` in its own way), an escaped end of a line; and before a byte at the
/// end of `text` whose meaning depends on what follows.
pub(crate) fn plain(text: &[u8], in_string: bool, rules: &Rules) -> Plain {
    let mut state = State { in_string: if in_string { !0 } else { 0 }, escaped: 0, next_escaped: 0 };
    let mut start = 0;
    while start < text.len() {
        let stop = match Around::within(text, start) {
            Some(around) => state.block(&around, start, rules),
            None => state.edge_block(text, start, rules),
        };
        if stop.is_some_and(|stop| stop.length < text.len()) {
            return stop.expect("it has just been looked at");
        }
        start += BLOCK;
    }
    // The escape of a last backslash went to the padding, or is still open.
    let in_last_block = text.len() % BLOCK;
    let open = if in_last_block == 0 { state.next_escaped } else { state.escaped >> in_last_block };
    Plain { length: text.len() - (open & 1) as usize, in_string: state.in_string != 0 }
}

/// A block with the bytes one before and one behind each of its own, so that pairs are compared as bytes are.
struct Around<'a> {
    before: &'a [u8; BLOCK],
    block: &'a [u8; BLOCK],
    behind: &'a [u8; BLOCK],
}

impl<'a> Around<'a> {
    #[inline]
    fn within(text: &'a [u8], start: usize) -> Option<Around<'a>> {
        let from = |start: usize| text.get(start..)?.first_chunk();
        Some(Around { before: from(start.checked_sub(1)?)?, block: from(start)?, behind: from(start + 1)? })
    }
}

/// The first block, which has nothing before it, or the last, which has nothing behind it.
struct Padded {
    bytes: [u8; BLOCK + 2],
}

impl Padded {
    fn at(text: &[u8], start: usize, rules: &Rules) -> Padded {
        let neutral = if rules.delimiter_first == b'.' { b',' } else { b'.' };
        let mut bytes = [neutral; BLOCK + 2];
        if start > 0 {
            bytes[0] = text[start - 1];
        }
        let length = (text.len() - start).min(BLOCK + 1);
        bytes[1..=length].copy_from_slice(&text[start..start + length]);
        if length <= BLOCK {
            // What may be the first half of a comment's start is taken for it.
            bytes[length + 1] = match bytes[length] {
                b'-' => b'-',
                b'/' => b'*',
                _ => neutral,
            };
        }
        Padded { bytes }
    }

    fn around(&self) -> Around<'_> {
        let from = |start: usize| self.bytes[start..].first_chunk().expect("there are two bytes more than a block");
        Around { before: from(0), block: from(1), behind: from(2) }
    }
}

/// What one block leaves to the next.
struct State {
    /// All ones within a string.
    in_string: u64,
    /// The escaped bytes of the last block.
    escaped: u64,
    /// 1 when the first byte of the next block is escaped.
    next_escaped: u64,
}

impl State {
    #[inline(always)]
    fn block(&mut self, around: &Around<'_>, start: usize, rules: &Rules) -> Option<Plain> {
        let meanings = meanings(around, rules);
        let (any, parity) = fold(&meanings);
        if any & !(QUOTE | NEWLINE) == 0 && self.next_escaped == 0 {
            // Nothing but quotes: an odd number of them changes sides.
            self.in_string ^= 0u64.wrapping_sub(u64::from(parity & QUOTE));
            self.escaped = 0;
            return None;
        }
        self.block_with_stops(&meanings, any, start, rules)
    }

    #[inline(never)]
    fn edge_block(&mut self, text: &[u8], start: usize, rules: &Rules) -> Option<Plain> {
        self.block(&Padded::at(text, start, rules).around(), start, rules)
    }

    #[inline(never)]
    fn block_with_stops(&mut self, meanings: &[u8; BLOCK], any: u8, start: usize, rules: &Rules) -> Option<Plain> {
        let gather = |meaning: u8| if any & meaning == 0 { 0 } else { gather(meanings, meaning) };
        let backslash = gather(BACKSLASH);
        self.escaped = if rules.escapes { self.escapes(backslash) } else { 0 };
        let in_string = prefix_xor(gather(QUOTE) & !self.escaped) ^ self.in_string;
        let outside = gather(OUTSIDE) | backslash;
        let escaped_newline = if self.escaped == 0 { 0 } else { gather(NEWLINE) & self.escaped };
        let stops = (outside & !in_string) | gather(ANYWHERE) | escaped_newline;
        if stops == 0 {
            self.in_string = if in_string >> 63 == 1 { !0 } else { 0 };
            return None;
        }
        let bit = stops.trailing_zeros();
        let at = start + bit as usize;
        let in_string = (in_string >> bit) & 1 == 1;
        // A byte that is escaped goes together with its backslash.
        let escaped = in_string && (self.escaped >> bit) & 1 == 1;
        Some(Plain { length: at - usize::from(escaped), in_string })
    }

    /// The bytes that stand behind an odd number of backslashes.
    #[inline]
    fn escapes(&mut self, backslashes: u64) -> u64 {
        if backslashes == 0 {
            return std::mem::take(&mut self.next_escaped);
        }
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.next_escaped;
        let behind = (backslashes << 1) | self.next_escaped;
        let odd_starts = backslashes & !EVEN & !behind;
        let (even_ends, overflow) = odd_starts.overflowing_add(backslashes);
        self.next_escaped = u64::from(overflow);
        (EVEN ^ (even_ends << 1)) & behind
    }
}

/// The meanings of each byte. Comparisons without branches, for the compiler to make vector instructions of.
#[inline(always)]
fn meanings(around: &Around<'_>, rules: &Rules) -> [u8; BLOCK] {
    let (second, third) = match rules.quote {
        b'\'' => (b'"', b'`'),
        b'"' => (b'\'', b'`'),
        _ => (b'\'', b'"'),
    };
    let not_text = if rules.binary { 0 } else { ANYWHERE };
    let when = |holds: bool, meaning: u8| if holds { meaning } else { 0 };
    let mut meanings = [0; BLOCK];
    let neighbours = around.before.iter().zip(around.behind);
    for ((meaning, &byte), (&before, &behind)) in meanings.iter_mut().zip(around.block).zip(neighbours) {
        *meaning = when(byte == rules.quote, QUOTE)
            | when(byte == b'\\', BACKSLASH)
            | when(byte == b'\n', NEWLINE)
            | when((byte == second) | (byte == third) | (byte == b'#') | (byte == rules.delimiter_first), OUTSIDE)
            | when(((byte == b'-') & (behind == b'-')) | ((byte == b'/') & (behind == b'*')), OUTSIDE)
            | when((byte == b'\r') | (byte == 0), not_text)
            | when((before == b'\n') & (byte | 0x20 == b'd'), ANYWHERE);
    }
    meanings
}

/// All meanings in a block, and those that an odd number of bytes have.
#[inline(always)]
fn fold(meanings: &[u8; BLOCK]) -> (u8, u8) {
    let (mut any, mut parity) = (0u64, 0u64);
    for word in words(meanings) {
        any |= word;
        parity ^= word;
    }
    let bytes = |word: u64| word.to_le_bytes().into_iter();
    (bytes(any).fold(0, |any, byte| any | byte), bytes(parity).fold(0, |parity, byte| parity ^ byte))
}

/// One bit for each byte that has this meaning.
#[inline]
fn gather(meanings: &[u8; BLOCK], meaning: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The product moves the lowest bit of each byte into the highest byte, in order.
    const LINE_UP: u64 = 0x0102_0408_1020_4080;
    let shift = meaning.trailing_zeros();
    let lined_up = |word: u64| ((word >> shift) & ONES).wrapping_mul(LINE_UP) >> 56;
    words(meanings).enumerate().fold(0, |bits, (index, word)| bits | (lined_up(word) << (8 * index)))
}

#[inline]
fn words(meanings: &[u8; BLOCK]) -> impl Iterator<Item = u64> {
    meanings.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("chunks_exact gives eight bytes")))
}

/// For each bit whether an odd number of the bits up to it are set.
fn prefix_xor(bits: u64) -> u64 {
    let bits = bits ^ (bits << 1);
    let bits = bits ^ (bits << 2);
    let bits = bits ^ (bits << 4);
    let bits = bits ^ (bits << 8);
    let bits = bits ^ (bits << 16);
    bits ^ (bits << 32)
}

#[cfg(test)]
mod tests {
    //! The bit tricks against one byte after the other.

    use proptest::prelude::*;

    use super::*;

    /// The same as [`plain`], as one would say it.
    fn plain_slowly(text: &[u8], mut in_string: bool, rules: &Rules) -> Plain {
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            let next = text.get(at + 1).copied();
            let starts_line = at > 0 && text[at - 1] == b'\n';
            let stop = match byte {
                b'\r' | 0 if !rules.binary => true,
                b'd' | b'D' if starts_line => true,
                b'\\' if in_string && rules.escapes => match next {
                    None | Some(b'\n') => true,
                    Some(b'\r' | 0) => !rules.binary,
                    Some(_) => {
                        at += 2;
                        continue;
                    }
                },
                _ if in_string => false,
                _ if byte == rules.delimiter_first => true,
                b'\\' | b'#' => true,
                b'-' => next.is_none_or(|next| next == b'-'),
                b'/' => next.is_none_or(|next| next == b'*'),
                b'\'' | b'"' | b'`' => byte != rules.quote,
                _ => false,
            };
            if stop {
                break;
            }
            in_string ^= byte == rules.quote;
            at += 1;
        }
        Plain { length: at, in_string }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            12 => Just(b'a'),
            4 => Just(b'\\'),
            2 => proptest::sample::select(&b"'\"`#-/*;dD\n\r\0x "[..]),
        ];
        proptest::collection::vec(byte, 0..300)
    }

    proptest! {
        #[test]
        fn stops_where_a_reader_would(
            text in bytes(),
            quote in proptest::sample::select(&b"'\"`"[..]),
            delimiter_first in proptest::sample::select(&b";$/d"[..]),
            in_string: bool,
            escapes: bool,
            binary: bool,
        ) {
            let rules = Rules { quote, escapes, delimiter_first, binary };
            prop_assert_eq!(plain(&text, in_string, &rules), plain_slowly(&text, in_string, &rules));
        }
    }
}
