//! The cutter against the real client: what the `mariadb` client sends for a text is what we say it would send. The
//! client talks to a real server, through a relay that takes note of the commands.

mod cases;
mod client;
mod random;

use std::fmt;
use std::fs;
use std::path::Path;

use cases::{Case, cases};
use client::Client;
use hortator_load::input::Source;
use hortator_load::lexer::{Charset, Dialect, Item, Statements, StatementsOptions};

/// What a client does that a server, or we, can see.
#[derive(Clone, PartialEq, Eq)]
enum Sent {
    Statement(Vec<u8>),
    Use(Vec<u8>),
    Charset(Vec<u8>),
}

impl fmt::Debug for Sent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sent::Statement(text) => write!(formatter, "{}", text.escape_ascii()),
            Sent::Use(database) => write!(formatter, "[use] {}", database.escape_ascii()),
            Sent::Charset(name) => write!(formatter, "[charset] {}", name.escape_ascii()),
        }
    }
}

/// How a text is given to the client, and to us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mode {
    comments: bool,
    binary_mode: bool,
    charset: Option<String>,
}

/// What we make of a text: what would be sent, and everything in the words of the case files.
fn cut(text: &[u8], mode: &Mode) -> (Vec<Sent>, Vec<String>) {
    let charset = mode.charset.as_deref().map_or(Charset::AsciiSafe, |name| Charset::from_name(name.as_bytes()));
    let mut dialect = Dialect { charset, ..Dialect::mariadb(101_119) };
    let options =
        StatementsOptions { comments: mode.comments, binary_mode: mode.binary_mode, ..StatementsOptions::new(dialect) };
    let source = Source::from_reader("dump", std::io::Cursor::new(text.to_vec())).unwrap();
    let mut statements = Statements::new(source, options);
    let (mut sent, mut shown) = (Vec::new(), Vec::new());
    while let Some(item) = statements.next() {
        match item {
            Ok(Item::Statement(statement)) => {
                // The client reads the modes from the server's answer. Only these statements change them here.
                let lower = String::from_utf8_lossy(&statement.text).to_lowercase();
                if lower.starts_with("set sql_mode=") {
                    dialect.no_backslash_escapes = lower.contains("no_backslash_escapes");
                    dialect.ansi_quotes = lower.contains("ansi_quotes");
                    statements.set_dialect(dialect);
                }
                shown.push(cases::show(&statement.text));
                if !client::is_own_question(&statement.text) {
                    sent.push(Sent::Statement(statement.text));
                }
            }
            Ok(Item::Use { database, .. }) => {
                shown.push(format!("[use] {}", cases::show(&database)));
                sent.push(Sent::Use(database));
            }
            Ok(Item::Charset { name, .. }) => {
                shown.push(format!("[charset] {}", cases::show(&name)));
                sent.push(Sent::Charset(name));
            }
            Ok(Item::Quit { .. }) => shown.push("[quit]".to_owned()),
            Ok(Item::Ignored { name, .. }) => shown.push(format!("[{name}]")),
            Ok(Item::RowsFile { .. } | Item::RowsColumns { .. } | Item::NoRows { .. }) => {
                unreachable!("a text of SQL is no file of rows")
            }
            Err(error) => shown.push(format!("[error] {error}")),
        }
    }
    (sent, shown)
}

fn all_cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lexer");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| cases(file)).collect()
}

#[test]
fn every_case_is_cut_as_its_file_says() {
    for case in all_cases() {
        let (_, shown) = cut(&case.input, &case.mode);
        let fits = shown.len() == case.expected.len()
            && shown.iter().zip(&case.expected).all(|(shown, expected)| {
                // Of an error, the file has the heart of the message.
                match (shown.strip_prefix("[error] "), expected.strip_prefix("[error] ")) {
                    (Some(shown), Some(expected)) => shown.contains(expected),
                    _ => shown == expected,
                }
            });
        assert!(fits, "{}\nexpected {:#?}\nfound {shown:#?}", case.name, case.expected);
    }
}

#[test]
fn the_client_sends_for_every_case_what_we_say() {
    let client = Client::start();
    for case in all_cases().into_iter().filter(|case| !case.unlike_the_client) {
        let (sent, _) = cut(&case.input, &case.mode);
        assert_eq!(client.sent(&case.input, &case.mode), sent, "{}", case.name);
    }
}

#[test]
fn the_client_sends_for_random_texts_what_we_say() {
    let client = Client::start();
    for seed in random::seeds() {
        let (text, mode) = random::text(seed);
        let (sent, shown) = cut(&text, &mode);
        let by_client = client.sent(&text, &mode);
        assert!(
            by_client == sent,
            "HORTATOR_SEED={seed} replays this.\n{mode:?}\n{}\nclient {by_client:#?}\nwe {shown:#?}",
            text.escape_ascii()
        );
    }
}
