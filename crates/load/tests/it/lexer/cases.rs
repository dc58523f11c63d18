//! The case files of `testdata/lexer`.
//!
//! A case is a title behind `==`, its ways (`@ comments`, `@ binary-mode`, `@ charset gbk`, `@ unlike the client: why`),
//! its lines of input behind `>` (`>|` for a line without its end) and behind `=` what comes of it. `{0d}` stands for a
//! byte, and `⏎` in what comes of it for a newline.

use std::fs;
use std::path::Path;

use super::Mode;

/// One text, and what comes of it.
pub struct Case {
    /// File and title.
    pub name: String,
    pub input: Vec<u8>,
    pub mode: Mode,
    /// What is sent, or in brackets what is met besides.
    pub expected: Vec<String>,
    /// The client does something here that we do not want to do.
    pub unlike_the_client: bool,
}

/// The cases of one file.
pub fn cases(file: &Path) -> Vec<Case> {
    let file_name = file.file_stem().unwrap().to_string_lossy().into_owned();
    let mut cases: Vec<Case> = Vec::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        if mark == "==" {
            let name = format!("{file_name}: {rest}");
            let (mode, expected) = (Mode::default(), Vec::new());
            cases.push(Case { name, input: Vec::new(), mode, expected, unlike_the_client: false });
            continue;
        }
        if mark.is_empty() || mark == "#" {
            continue;
        }
        let case = cases.last_mut().unwrap_or_else(|| panic!("{file_name}: {line:?} stands before the first case"));
        match mark {
            ">" => case.input.extend([unescape(rest), b"\n".to_vec()].concat()),
            ">|" => case.input.extend(unescape(rest)),
            "=" => case.expected.push(rest.to_owned()),
            "@" if rest == "comments" => case.mode.comments = true,
            "@" if rest == "binary-mode" => case.mode.binary_mode = true,
            "@" if rest.starts_with("unlike the client: ") => case.unlike_the_client = true,
            "@" if rest.starts_with("charset ") => case.mode.charset = Some(rest["charset ".len()..].to_owned()),
            _ => panic!("{file_name}: {line:?} is no line of a case"),
        }
    }
    cases
}

/// The bytes of a line of input.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (byte, behind) = behind.split_once('}').unwrap();
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(byte, 16).unwrap());
        rest = behind;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Bytes as the files show them.
pub fn show(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => shown.push('⏎'),
                '{' | '}' | '\u{feff}' | '\0'..='\x1f' | '\x7f' => {
                    let mut buffer = [0; 4];
                    let bytes = character.encode_utf8(&mut buffer).bytes();
                    shown.extend(bytes.map(|byte| format!("{{{byte:02x}}}")));
                }
                other => shown.push(other),
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("{{{byte:02x}}}")));
    }
    shown
}
