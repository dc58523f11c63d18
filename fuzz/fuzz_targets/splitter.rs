//! Any bytes at all are cut without a panic; how they come in changes nothing; places are in order and within the
//! input; and the tokens of each statement are in order too.
//!
//! The first byte chooses the options, the second the size of each read. The same properties run from seeds in the
//! unit tests of `hortator_load::lexer`.

#![no_main]

use std::io::{self, Read};

use hortator_load::input::Source;
use hortator_load::lexer::{Charset, Dialect, Item, Statements, StatementsOptions, tokens};
use libfuzzer_sys::fuzz_target;

/// Gives at most `size` bytes at a time.
struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(target.len());
        self.bytes.read(&mut target[..size])
    }
}

fn options(choice: u8) -> StatementsOptions {
    let names: [&[u8]; 4] = [b"utf8mb4", b"sjis", b"gbk", b"gb18030"];
    let dialect = Dialect {
        charset: Charset::from_name(names[usize::from(choice >> 2) & 3]),
        no_backslash_escapes: choice & 16 != 0,
        ansi_quotes: choice & 32 != 0,
        ..Dialect::mariadb(101_119)
    };
    StatementsOptions {
        comments: choice & 1 != 0,
        binary_mode: choice & 2 != 0,
        statement_limit_bytes: 1 << 20,
        ..StatementsOptions::new(dialect)
    }
}

fn cut(text: &[u8], size: usize, options: &StatementsOptions) -> Vec<Result<Item, String>> {
    // A dump may name files; no file is opened here, as `source` is forbidden from the start.
    let text = [b"\\-\n", text].concat();
    let source = Source::from_reader("dump", Pieces { bytes: io::Cursor::new(text), size });
    let Ok(source) = source else { return Vec::new() };
    Statements::new(source, options.clone()).map(|item| item.map_err(|error| error.to_string())).collect()
}

fuzz_target!(|data: &[u8]| {
    let [choice, size, text @ ..] = data else { return };
    let options = options(*choice);
    let whole = cut(text, usize::MAX, &options);
    assert_eq!(cut(text, usize::from(*size) + 1, &options), whole);
    let mut last_byte = 0;
    for item in whole {
        let Ok(Item::Statement(statement)) = item else { continue };
        assert!(last_byte <= statement.location.byte && statement.location.byte < statement.end_byte);
        last_byte = statement.end_byte;
        let mut end = 0;
        for token in tokens(&statement.text, &options.dialect) {
            assert!(end <= token.offset && token.offset < token.end && token.end <= statement.text.len());
            end = token.end;
        }
    }
    assert!(last_byte <= text.len() as u64 + 3);
});
