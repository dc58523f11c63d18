//! The client character sets in which a byte that looks like ASCII may be the second half of a character.
//!
//! In all others (utf8mb4, latin1, …) a quote or a backslash is always just that, so they are one variant here.
//! Lead and trail ranges: the MariaDB manual's "Supported Character Sets" and the code pages' own tables.

/// The character sets besides those of [`TRICKY`] that a client can have.
#[rustfmt::skip]
const ASCII_SAFE: [&str; 32] = [
    "armscii8", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8",
    "eucjpms", "gb2312", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2",
    "latin5", "latin7", "macce", "macroman", "swe7", "tis620", "ujis", "utf8", "utf8mb3", "utf8mb4",
];

/// Those of [`ASCII_SAFE`] that have characters of several bytes.
const MULTI_BYTE: [&str; 6] = ["eucjpms", "gb2312", "ujis", "utf8", "utf8mb3", "utf8mb4"];

/// The character sets in which ASCII may be the second half of a character.
const TRICKY: [(&str, Charset); 6] = [
    ("sjis", Charset::Sjis),
    ("cp932", Charset::Sjis),
    ("gbk", Charset::Gbk),
    ("gb18030", Charset::Gb18030),
    ("big5", Charset::Big5),
    ("euckr", Charset::Euckr),
];

/// The character sets that no client can have: any byte of a character may look like ASCII.
const WIDE: [&str; 5] = ["ucs2", "ucs4", "utf16", "utf16le", "utf32"];

/// Whether any byte of a character of this set may look like ASCII, also where a character begins.
pub(crate) fn is_wide(name: &str) -> bool {
    WIDE.iter().any(|wide| wide.eq_ignore_ascii_case(name))
}

/// Whether a byte that looks like ASCII is always just that in this character set.
pub(crate) fn is_ascii_safe(name: &str) -> bool {
    !is_wide(name) && Charset::from_name(name.as_bytes()) == Charset::AsciiSafe
}

/// Whether each character of this set, which a client can have, is one byte.
pub(crate) fn is_single_byte(name: &str) -> bool {
    is_ascii_safe(name) && !MULTI_BYTE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// How a character set forms characters, as far as cutting and reading SQL is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// No byte below 0x80 is ever part of a longer character: utf8mb4, utf8mb3, latin1, ujis, binary and the like.
    #[default]
    AsciiSafe,
    /// sjis and cp932.
    Sjis,
    /// gbk.
    Gbk,
    /// gb18030: as gbk, and characters of four bytes.
    Gb18030,
    /// big5.
    Big5,
    /// euckr (with the letters of cp949 as second bytes).
    Euckr,
}

impl Charset {
    /// The class of a character set by its SQL name, in any case; every name not listed is taken as ASCII-safe.
    pub fn from_name(name: &[u8]) -> Charset {
        Charset::known(name).unwrap_or_default()
    }

    /// As [`Charset::from_name`], but `None` for what is not the name of a character set that a client can have.
    pub(crate) fn known(name: &[u8]) -> Option<Charset> {
        let is = |known: &str| known.as_bytes().eq_ignore_ascii_case(name);
        let tricky = TRICKY.iter().find(|(known, _)| is(known)).map(|&(_, charset)| charset);
        tricky.or_else(|| ASCII_SAFE.iter().any(|known| is(known)).then_some(Charset::AsciiSafe))
    }

    /// Length in bytes of the multi-byte character that `text` begins with, where its bytes could be taken for
    /// ASCII; 1 for every other byte, and for a lead byte whose character is cut off or not valid.
    pub fn character_length(self, text: &[u8]) -> usize {
        let (Some(&first), Some(&second)) = (text.first(), text.get(1)) else {
            return 1;
        };
        let double = match self {
            Charset::AsciiSafe => false,
            Charset::Sjis => matches!(first, 0x81..=0x9f | 0xe0..=0xfc) && matches!(second, 0x40..=0x7e | 0x80..=0xfc),
            Charset::Gbk => matches!(first, 0x81..=0xfe) && matches!(second, 0x40..=0x7e | 0x80..=0xfe),
            Charset::Gb18030 => {
                if matches!(first, 0x81..=0xfe)
                    && second.is_ascii_digit()
                    && matches!(text.get(2), Some(0x81..=0xfe))
                    && text.get(3).is_some_and(u8::is_ascii_digit)
                {
                    return 4;
                }
                matches!(first, 0x81..=0xfe) && matches!(second, 0x40..=0x7e | 0x80..=0xfe)
            }
            Charset::Big5 => matches!(first, 0xa1..=0xf9) && matches!(second, 0x40..=0x7e | 0xa1..=0xfe),
            Charset::Euckr => matches!(first, 0x81..=0xfe) && matches!(second, 0x41..=0x5a | 0x61..=0x7a | 0x81..=0xfe),
        };
        if double { 2 } else { 1 }
    }
}
