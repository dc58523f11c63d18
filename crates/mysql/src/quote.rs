//! Names and texts as parts of generated SQL.

/// A name in backticks: correct in every `sql_mode`, and in every character set in which the byte of the backtick
/// always means a backtick (utf8mb4, latin1, binary; not sjis).
pub fn quote_identifier(name: impl AsRef<[u8]>) -> Vec<u8> {
    let name = name.as_ref();
    let mut quoted = Vec::with_capacity(name.len() + 2);
    quoted.push(b'`');
    for &byte in name {
        if byte == b'`' {
            quoted.push(b'`');
        }
        quoted.push(byte);
    }
    quoted.push(b'`');
    quoted
}

/// A UTF-8 text as an SQL literal with the same meaning in every `sql_mode` and on a connection of any character set:
/// printable ASCII in quotes, anything else as `_utf8mb4 X'…'`. The latter is an expression: where the grammar requires
/// a plain string (`SHOW … LIKE`), it is a syntax error, never another meaning.
pub fn quote_string(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\'' && *byte != b'\\';
    if text.iter().all(is_plain) {
        return [b"'", text, b"'"].concat();
    }
    let hex = text.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = hex.map(|nibble| b"0123456789abcdef"[usize::from(nibble)]);
    b"_utf8mb4 X'".iter().copied().chain(digits).chain([b'\'']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_double_the_backtick() {
        for (name, quoted) in [("t", "`t`"), ("", "``"), ("a`b``", "`a``b`````"), ("a\nb;", "`a\nb;`"), ("ü", "`ü`")]
        {
            assert_eq!(String::from_utf8_lossy(&quote_identifier(name)), quoted);
        }
    }

    #[test]
    fn texts_that_escapes_could_change_become_hex() {
        for (text, quoted) in [
            ("abc d", "'abc d'"),
            ("", "''"),
            ("it's", "_utf8mb4 X'69742773'"),
            ("a\\", "_utf8mb4 X'615c'"),
            ("ü\n", "_utf8mb4 X'c3bc0a'"),
        ] {
            assert_eq!(String::from_utf8_lossy(&quote_string(text)), quoted);
        }
    }
}
