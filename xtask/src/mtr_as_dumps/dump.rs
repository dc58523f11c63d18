//! A SQL dump as a list of statements, each with the delimiter that ends it.

use std::collections::HashMap;

/// A statement and its delimiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) text: Vec<u8>,
    pub(crate) delimiter: Vec<u8>,
    /// The test's name of the connection that sends it.
    pub(crate) connection: String,
}

/// Statements in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    pub(crate) statements: Vec<Statement>,
}

/// Heads of statements that print rows and change nothing.
const READERS: [&str; 9] = ["SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "CHECK", "CHECKSUM", "VALUES", "HELP"];

impl Dump {
    /// The file, with the client's DELIMITER where it changes.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut delimiter: &[u8] = b";";
        for statement in &self.statements {
            if statement.delimiter != delimiter {
                delimiter = &statement.delimiter;
                text.extend([b"DELIMITER ", delimiter, b"\n"].concat());
            }
            text.extend_from_slice(&statement.text);
            // A comment would hide the delimiter.
            if last_line_has_comment(&statement.text) {
                text.push(b'\n');
            }
            text.extend_from_slice(delimiter);
            text.push(b'\n');
        }
        text
    }

    /// Without LOCK TABLES, which Hortator leaves out; `None` where it has none.
    pub(crate) fn without_locks(&self) -> Option<Dump> {
        let without = self.filtered(|_, statement| !statement.locks_tables());
        (without.statements.len() < self.statements.len()).then_some(without)
    }

    /// Only the statements that `is_kept` says.
    pub(crate) fn filtered(&self, is_kept: impl Fn(usize, &Statement) -> bool) -> Dump {
        let statements = self.statements.iter().enumerate();
        Dump { statements: statements.filter(|(at, one)| is_kept(*at, one)).map(|(_, one)| one.clone()).collect() }
    }

    /// Without what only prints, up to a place that `random` chooses: the state in the middle of a test shows, which the
    /// test's own end takes away.
    pub(crate) fn cut(&self, random: u64) -> Dump {
        let quiet = self.filtered(|_, statement| !statement.only_reads());
        let length = quiet.statements.len() as u64;
        if length == 0 {
            return quiet;
        }
        let kept = usize::try_from(random % length).unwrap_or(0) + 1;
        quiet.filtered(|at, _| at < kept)
    }

    /// The statement that begins in each line, counted from 1.
    pub(crate) fn by_line(&self) -> HashMap<u64, &[u8]> {
        let mut lines = HashMap::new();
        let (mut line, mut delimiter) = (1, b";".as_slice());
        for statement in &self.statements {
            if statement.delimiter != delimiter {
                delimiter = &statement.delimiter;
                line += 1;
            }
            lines.insert(line, statement.text.as_slice());
            let breaks = statement.text.iter().filter(|byte| **byte == b'\n').count() as u64;
            line += breaks + 1 + u64::from(last_line_has_comment(&statement.text));
        }
        lines
    }
}

impl Statement {
    /// The first word, in upper case.
    pub(crate) fn head(&self) -> String {
        let text = self.text.trim_ascii_start();
        let length = text.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..length]).to_ascii_uppercase()
    }

    fn locks_tables(&self) -> bool {
        let words = self.text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.map(<[u8]>::to_ascii_uppercase);
        words.next().as_deref() == Some(b"LOCK") && words.next().is_some_and(|word| word.starts_with(b"TABLE"))
    }

    fn only_reads(&self) -> bool {
        let stores = || self.text.to_ascii_uppercase().windows(5).any(|window| window == b"INTO ");
        READERS.contains(&self.head().as_str()) && !stores() || self.text.starts_with(b"(")
    }
}

fn last_line_has_comment(text: &[u8]) -> bool {
    let line = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    line.contains(&b'#') || line.windows(2).any(|window| window == b"--")
}
