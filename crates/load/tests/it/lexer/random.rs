//! Texts at random, out of what means something to the client. A seed gives the same text always.
//!
//! What is left out: commands that do something (`system`, `edit`, `connect` …), `\h`, for which the client
//! writes zeros into its line, and the few places where we do not want to be like the client (`unlike the client` in the case files).

use std::env;
use std::ops::Range;

use super::Mode;

/// Seeds of one run; HORTATOR_SEED replays one, HORTATOR_SEEDS says how many.
pub fn seeds() -> Range<u64> {
    let number = |name: &str| env::var(name).ok().map(|value| value.parse::<u64>().expect("it is a number"));
    match number("HORTATOR_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HORTATOR_SEEDS").unwrap_or(300),
    }
}

#[rustfmt::skip]
const PIECES: [&[u8]; 107] = [
    b"select 1", b"'", b"\"", b"`", b"\\", b"\\\\", b"\\'", b"''", b"\"\"", b"``", b"\n", b"\n", b"\n", b" ", b"  ", b"\t",
    b";", b";", b";", b";;", b"//", b"$$", b"delimiter ", b"DELIMITER //\n", b"delimiter ;\n", b"\ndelimiter //\n",
    b"\ndelimiter ;\n", b"\nDelimiter $$\n", b"delimiter", b"delim", b"/*", b"*/", b"/*!", b"/*!40000 ", b"/*M!100000 ",
    b"/*+ ", b"/* x */", b"/**/", b"--", b"-- ", b"-- c", b"--\n", b"#", b"# c\n", b"-", b"/", b"*", b"!", b"\\g", b"\\G",
    b"\\N", b"\\c", b"\\p", b"\\d // ", b"\\d ; ", b"\\u d1", b"\\u d1 ", b"\nuse d1\n", b"use d2;", b"use `d1`;",
    b"USE d2 ", b"\\C gbk ", b"\ncharset utf8mb4\n", b"charset gbk;", b"\\q", b"\nquit\n", b"exit ;", b"go", b"\ngo\n",
    b"\nclear\n", b"print;", b"\\-", b"\r\n", b"\r", b"a", b"b c", b"d", b"\nd", b"a\xc3\xa9", b"x\xbf\\x", b"y\xbf'x",
    b"z\x81`x", b"\x01", b"\x0b", b"\x7f", b"0", b"x'41'", b"\nwarnings\n", b"\\W", b"\\w", b"\\n", b"\\t", b"nowarning;",
    b"prompt x\n", b"\\#", b"?", b"notee", b"nopager", b"\nset sql_mode='NO_BACKSLASH_ESCAPES';\n",
    b"set sql_mode='ANSI_QUOTES';", b"set sql_mode='';", b"\\x", b"\\;", b"\\ ", b"set names gbk;", b"\nstatus\n", b"\\s",
];

const SMALL_PIECES: [&[u8]; 16] =
    [b"'", b"\"", b"`", b"\\", b"\n", b" ", b";", b"a", b"/*", b"*/", b"--", b"#", b"/*!", b"d", b"delimiter", b"x"];

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[(self.next() % from.len() as u64) as usize]
    }
}

/// A text, and how it is given to the client.
pub fn text(seed: u64) -> (Vec<u8>, Mode) {
    let mut random = Random(seed);
    let pieces: &[&[u8]] = if random.next() % 10 < 7 { &PIECES } else { &SMALL_PIECES };
    let length = *random.pick(&[&3, &6, &12, &25, &60]);
    let mut text: Vec<u8> = (0..length).flat_map(|_| random.pick(pieces)).copied().collect();
    let mode = match random.next() % 8 {
        0 => Mode { comments: true, ..Mode::default() },
        1 => Mode { binary_mode: true, ..Mode::default() },
        2 => Mode { charset: Some("gbk".to_owned()), ..Mode::default() },
        3 => Mode { charset: Some("sjis".to_owned()), ..Mode::default() },
        4 => Mode { charset: Some("big5".to_owned()), comments: true, ..Mode::default() },
        _ => Mode::default(),
    };
    for word in [&b"edit"[..], b"tee", b"system", b"connect", b"pager", b"help", b"rehash"] {
        remove(&mut text, |at| at.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)), word.len());
    }
    remove(&mut text, |at| matches!(at, [b'\\', b'e' | b'T' | b'r' | b'!' | b'P' | b'?' | b'h' | b'R', ..]), 2);
    if mode.binary_mode {
        // Behind a backslash that ends a line in a string the client reads beyond its buffer.
        remove(&mut text, |at| matches!(at, [b'\\', b'\n' | b'\r', ..] | [b'\\']), 1);
    }
    (text, mode)
}

/// Takes out what `is_meant` finds, until there is none.
fn remove(text: &mut Vec<u8>, is_meant: impl Fn(&[u8]) -> bool, length: usize) {
    let mut at = 0;
    while at < text.len() {
        if is_meant(&text[at..]) {
            text.drain(at..(at + length).min(text.len()));
            at = at.saturating_sub(10);
        } else {
            at += 1;
        }
    }
}
