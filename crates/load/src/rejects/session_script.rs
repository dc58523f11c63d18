//! The commands that give a session the state under which a statement failed, for the client and for a load.
//!
//! What a script sets holds until the next one, so that each sets again what an earlier one has set.

use std::collections::BTreeSet;

use hortator_mysql::quote_identifier;

use crate::lexer::Charset;
use crate::session::{SessionState, is_number};

/// What every script sets, whatever the session that reads it has.
const ALWAYS: [&str; 7] = [
    "character_set_client",
    "character_set_connection",
    "collation_connection",
    "foreign_key_checks",
    "sql_mode",
    "time_zone",
    "unique_checks",
];

const SET: &[u8] = b"SET SESSION `";

/// The client's command for a character set, which is not a statement.
const CHARSET_COMMAND: &[u8] = b"\\C ";

/// What the scripts of a file have set so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Scripts {
    names: BTreeSet<String>,
    /// One has told the client a character set.
    has_charset_command: bool,
}

impl Scripts {
    /// The commands for a state.
    pub(super) fn script(&mut self, state: &SessionState) -> Vec<u8> {
        let charset = state.value("character_set_client");
        // Only there does it matter how the client splits.
        let is_split_otherwise = Charset::from_name(charset) != Charset::AsciiSafe;
        self.has_charset_command |= is_split_otherwise;
        self.names.extend(ALWAYS.iter().map(|&name| name.to_owned()));
        self.names.extend(state.changes().map(str::to_owned));
        let charset_command = |charset: &[u8]| [CHARSET_COMMAND, charset, b"\n"].concat();
        let mut script = Vec::new();
        if let Some(database) = &state.database {
            if !database.is_ascii() {
                // Its bytes are UTF-8.
                script.extend(match self.has_charset_command {
                    true => charset_command(b"utf8mb4"),
                    false => b"SET NAMES utf8mb4;\n".to_vec(),
                });
            }
            script.extend_from_slice(&[b"USE ".as_slice(), &quote_identifier(database), b";\n"].concat());
        }
        if self.has_charset_command && Charset::known(charset).is_some() {
            script.extend(charset_command(charset));
        }
        // In the order of their names: a collation comes after its character set.
        for name in &self.names {
            if let Some(value) = state.own_value(name) {
                script.extend_from_slice(&[SET, name.as_bytes(), b"` = ", &literal(value), b";\n"].concat());
            }
        }
        script
    }

    /// Takes note of a script that is in the file.
    pub(super) fn note(&mut self, script: &[u8]) {
        for line in script.split(|byte| *byte == b'\n') {
            self.has_charset_command |= line.starts_with(CHARSET_COMMAND);
            let name = line.strip_prefix(SET).and_then(|rest| rest.split(|byte| *byte == b'`').next());
            let name = name.and_then(|name| String::from_utf8(name.to_vec()).ok());
            self.names.extend(name);
        }
    }
}

/// A value that no SQL mode and no character set reads differently.
fn literal(value: Option<&[u8]>) -> Vec<u8> {
    let Some(value) = value else { return b"NULL".to_vec() };
    let is_plain = |byte: &u8| (byte.is_ascii_graphic() || *byte == b' ') && !matches!(byte, b'\'' | b'\\');
    if is_number(value) {
        value.to_vec()
    } else if value.iter().all(is_plain) {
        [b"'".as_slice(), value, b"'"].concat()
    } else {
        let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("_utf8mb4 X'{digits}'").into_bytes()
    }
}
