//! Tokens and literals of one statement; and what holds of a whole dump however it comes in. What the client does in
//! each case is held against the client itself, in `tests/it/lexer`.

use std::fs;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;

use super::*;
use crate::input::{Member, Source};

fn shown(text: &str, dialect: &Dialect) -> String {
    let mut shown = Vec::new();
    for token in tokens(text.as_bytes(), dialect) {
        let (mark, bytes) = match &token.kind {
            Kind::Word(word) => ("w", word.to_vec()),
            Kind::QuotedIdentifier(name) => ("q", name.to_vec()),
            Kind::String(raw) => ("s", raw.to_vec()),
            Kind::Number(raw) => ("n", raw.to_vec()),
            Kind::UserVariable(name) => ("@", name.to_vec()),
            Kind::SystemVariable(name) => ("@@", name.to_vec()),
            Kind::Symbol(symbol) => ("", symbol.to_vec()),
        };
        shown.push(format!("{mark}:{}", String::from_utf8_lossy(&bytes)));
    }
    shown.join(" ")
}

const MARIADB: u32 = 101_119;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text, &Dialect::mariadb(MARIADB)), expected, "in {text:?}");
}

fn mysql(server_version: u32) -> Dialect {
    Dialect { mariadb: false, ..Dialect::mariadb(server_version) }
}

#[test]
fn words_names_and_symbols() {
    check("SELECT a.b, `c``d`.* FROM t1", "w:SELECT w:a :. w:b :, q:c`d :. :* w:FROM w:t1");
    check("a:=1<=>2||x->>'$.y'", "w:a ::= n:1 :<=> n:2 :|| w:x :->> s:'$.y'");
    check("t.1e5 t .1e5 1a 0x 5.t", "w:t :. w:1e5 w:t n:.1e5 w:1a w:0x n:5. w:t");
    check("1 -1 1.5e-3 2e 0xfF x'0f' b'01' 0b1 .5", "n:1 :- n:1 n:1.5e-3 w:2e n:0xfF n:x'0f' n:b'01' n:0b1 n:.5");
    check(r"'a''b' 'a\'b' _binary'x' N'y' \N", r"s:'a''b' s:'a\'b' w:_binary s:'x' s:N'y' :\N");
    check("@a @'b c' @`d``e` @@sql_mode @@GLOBAL.x @", "@:a @:b c @:d`e @@:sql_mode @@:GLOBAL.x :@");
    check("`root`@`local``host`", "q:root @:local`host");
    check("'open", "s:'open");
}

#[test]
fn comments_are_skipped() {
    check("a -- b\nc--d\n# e\nf /* g */h/**/i", "w:a w:c :- :- w:d w:f w:h w:i");
    check("a /*+ hint */ b /* open", "w:a w:b");
    check("a -- ", "w:a");
}

#[test]
fn version_comments_follow_the_target() {
    let text = "a /*!40101 b */ /*!50701 c */ /*!100100 d */ /*!999999 e */ /*M!100100 f */ /*M!110000 g*/ /*! h */ i";
    check(text, "w:a w:b w:d w:f w:h w:i");
    assert_eq!(shown(text, &mysql(80_036)), "w:a w:b w:c w:h w:i");
    assert_eq!(shown("/*!800001 x */", &mysql(80_036)), "");
    assert_eq!(shown("/*!500001 x */", &mysql(50_744)), "n:1 w:x");
    check("/*!99999 a /* b */ c */ d", "w:d");
    check("/*!50000 a /* b */ c */ d", "w:a w:c w:d");
    check("/*!50003CREATE*/ x", "w:CREATE w:x");
}

#[test]
fn sql_modes_change_quotes() {
    let ansi = Dialect { ansi_quotes: true, ..Dialect::mariadb(MARIADB) };
    assert_eq!(shown(r#"a."b""c" 'd'"#, &ansi), r#"w:a :. q:b"c s:'d'"#);
    let mssql = Dialect { brackets: true, ..ansi };
    assert_eq!(shown(r"[a]]b].[c[d] [`]x", &mssql), r"q:a]b :. q:c[d q:` w:x");
    assert_eq!(shown(r"[a]", &ansi), ":[ w:a :]");
    let literal = Dialect { no_backslash_escapes: true, ..Dialect::mariadb(MARIADB) };
    assert_eq!(shown(r"'a\' b", &literal), r"s:'a\' w:b");
}

#[test]
fn second_bytes_are_not_quotes_or_backslashes() {
    let sjis = Dialect { charset: Charset::from_name(b"SJIS"), ..Dialect::mariadb(MARIADB) };
    let text = b"'\x95\x5c' `\x83\x60` x";
    let kinds: Vec<_> = tokens(text, &sjis).map(|token| token.kind).collect();
    assert_eq!(kinds, [Kind::String(b"'\x95\x5c'"), Kind::QuotedIdentifier(b"\x83\x60"[..].into()), Kind::Word(b"x")]);
}

#[test]
fn strings_are_decoded() {
    let decoded = |raw: &[u8]| decode_string(raw, &Dialect::mariadb(MARIADB)).into_owned();
    assert_eq!(decoded(b"'plain'"), b"plain");
    assert_eq!(decoded(br"'a''b\'c\n\0\Z\%\_\q\\'"), b"a'b'c\n\0\x1a\\%\\_q\\");
    assert_eq!(decoded(b"N'x'"), b"x");
    assert_eq!(decoded(b"\"a\"\"b'\""), b"a\"b'");
    assert_eq!(decoded(b"'\\\xc3\xa9'"), b"\xc3\xa9");
    assert_eq!(decoded(b"'"), b"");
    assert_eq!(decoded(b"'a\\"), b"a\\");
    assert_eq!(decoded(b"''''"), b"'");
}

/// Gives its bytes in pieces of the given sizes, over and over.
struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    next: usize,
}

impl Read for Pieces {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.next % self.sizes.len()].min(target.len());
        self.next += 1;
        self.bytes.read(&mut target[..size])
    }
}

fn options(comments: bool, binary_mode: bool, charset: Charset) -> StatementsOptions {
    let dialect = Dialect { charset, ..Dialect::mariadb(MARIADB) };
    StatementsOptions { comments, binary_mode, ..StatementsOptions::new(dialect) }
}

fn split(text: &[u8], sizes: &[usize], options: &StatementsOptions, slow: bool) -> Vec<Result<Item, String>> {
    let pieces = Pieces { bytes: io::Cursor::new(text.to_vec()), sizes: sizes.to_vec(), next: 0 };
    let mut statements = Statements::new(Source::from_reader("dump", pieces).unwrap(), options.clone());
    statements.cut_slowly(slow);
    statements.map(|item| item.map_err(|error| error.to_string())).collect()
}

/// The same, with statements that are read ahead; some are given back and read again.
fn split_ahead(text: &[u8], sizes: &[usize], options: &StatementsOptions, choices: &[u8]) -> Vec<Result<Item, String>> {
    let reads = Arc::<AtomicUsize>::default();
    let pieces = Pieces { bytes: io::Cursor::new(text.to_vec()), sizes: sizes.to_vec(), next: 0 };
    let counted = Counted { pieces, reads: Arc::clone(&reads) };
    let mut statements = Statements::new(Source::from_reader("dump", counted).unwrap(), options.clone());
    let mut items = Vec::new();
    for choice in choices.iter().cycle() {
        let before = reads.load(Relaxed);
        let ahead = if *choice > 0 { statements.read_ahead() } else { None };
        assert_eq!(reads.load(Relaxed), before, "it waits for input");
        match ahead {
            Some((statement, _)) if *choice == 1 => items.push(Ok(Item::Statement(statement))),
            given_back => {
                if let Some((_, mark)) = given_back {
                    statements.rewind(mark);
                }
                let Some(item) = statements.next() else { break };
                items.push(item.map_err(|error| error.to_string()));
            }
        }
    }
    items
}

/// Counts how often it is read.
struct Counted {
    pieces: Pieces,
    reads: Arc<AtomicUsize>,
}

impl Read for Counted {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.reads.fetch_add(1, Relaxed);
        self.pieces.read(target)
    }
}

fn cut_default(text: &[u8]) -> Vec<Result<Item, String>> {
    split(text, &[usize::MAX], &StatementsOptions::new(Dialect::mariadb(MARIADB)), false)
}

/// Statement texts as strings; anything else in brackets.
fn texts(items: Vec<Result<Item, String>>) -> Vec<String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    items
        .into_iter()
        .map(|item| match item {
            Ok(Item::Statement(statement)) => text(statement.text),
            Ok(Item::Use { database, .. }) => format!("[use {}]", text(database)),
            Ok(other) => format!("[{other:?}]"),
            Err(error) => format!("[{error}]"),
        })
        .collect()
}

/// Bytes in which what the splitter looks for is frequent.
fn dumps() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => proptest::sample::select(&[
            "'", "\"", "`", "\\", "\\'", "''", ";", "//", "/*", "*/", "/*!", "--", "-- ", "#", "\n", "\r\n", " ", "\t",
        ][..]),
        3 => proptest::sample::select(&[
            "a", "d", "select 1", "(1,'x',-2.5,NULL),\n", "VALUES", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ][..]),
        2 => proptest::sample::select(&[
            "\ndelimiter //\n", "\ndelimiter ;\n", "delimiter ", "\\d x", "use d1;", "\nuse d1\n", "\\u d2 ", "\\g", "\\G",
            "\\c", "\\N", "\\-", "charset gbk;", "\\C utf8mb4 ", "quit\n", "\nstatus\n", "\\! ls", "\\x", "\u{feff}", "é", "\0",
        ][..]),
    ];
    proptest::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn how_the_input_comes_in_changes_nothing(
        text in dumps(),
        sizes in proptest::collection::vec(1usize..40, 1..5),
        comments: bool,
        binary_mode: bool,
        charset in proptest::sample::select(&[Charset::AsciiSafe, Charset::Gbk, Charset::Sjis][..]),
    ) {
        let options = options(comments, binary_mode, charset);
        let whole = split(&text, &[usize::MAX], &options, false);
        prop_assert_eq!(&split(&text, &sizes, &options, false), &whole);
        prop_assert_eq!(&split(&text, &[usize::MAX], &options, true), &whole, "the fast path differs");
    }

    #[test]
    fn what_is_read_ahead_is_what_comes(
        text in dumps(),
        sizes in proptest::collection::vec(1usize..400, 1..5),
        choices in proptest::collection::vec(0u8..3, 1..20),
        comments: bool,
        binary_mode: bool,
        charset in proptest::sample::select(&[Charset::AsciiSafe, Charset::Gbk][..]),
    ) {
        let options = options(comments, binary_mode, charset);
        prop_assert_eq!(split_ahead(&text, &sizes, &options, &choices), split(&text, &sizes, &options, false));
    }

    #[test]
    fn places_are_in_order_and_within_the_input(text in dumps()) {
        let mut last_byte = 0;
        for statement in cut_default(&text).into_iter().filter_map(Result::ok) {
            let Item::Statement(statement) = statement else { continue };
            let start = usize::try_from(statement.location.byte).unwrap();
            let end = usize::try_from(statement.end_byte).unwrap();
            prop_assert!(last_byte <= start && start < end && end <= text.len());
            let lines = text[..start].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            prop_assert_eq!(statement.location.line, lines);
            let first = statement.text.iter().find(|&&byte| byte != b' ');
            prop_assert!(first == Some(&text[start]) || text[start] == b'\\', "{:?}", statement);
            last_byte = end;
        }
    }

    #[test]
    fn tokens_of_any_bytes_come_in_order(text in dumps(), ansi_quotes: bool, brackets: bool, mariadb: bool) {
        let mut end = 0;
        for token in tokens(&text, &Dialect { ansi_quotes, brackets, mariadb, ..Dialect::mariadb(MARIADB) }) {
            prop_assert!(end <= token.offset && token.offset < token.end && token.end <= text.len());
            end = token.end;
        }
    }
}

#[test]
fn a_file_is_looked_for_beside_the_one_that_names_it_then_in_the_current_directory() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    write("main.sql", "select 1;\nsource parts/one.sql\nselect 4;");
    write("parts/one.sql", "select 2;\n\\. two.sql\ndelimiter //\n");
    write("parts/two.sql", "select 3;");
    let options = StatementsOptions::new(Dialect::mariadb(MARIADB));
    let files = [Member::file(folder.path().join("main.sql"))];
    let statements = Statements::open(&files, options).unwrap();
    let items: Vec<_> = statements.map(|item| item.map_err(|error| error.to_string())).collect();
    let positions: Vec<_> = items
        .iter()
        .map(|item| match item {
            Ok(Item::Statement(statement)) => {
                let file = statement.location.file.rsplit('/').next().unwrap();
                format!("{file}:{}:{}", statement.location.line, statement.location.byte)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    // The delimiter outlives the file that set it, as with the client.
    assert_eq!(texts(items), ["select 1", "select 2", "select 3", "select 4;"]);
    assert_eq!(positions, ["main.sql:1:0", "one.sql:1:0", "two.sql:1:0", "main.sql:3:31"]);
}

#[test]
fn files_that_source_each_other_are_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.sql"), "source b.sql\nselect 1;").unwrap();
    fs::write(path("b.sql"), "source a.sql\nselect 2;").unwrap();
    let statements =
        Statements::open(&[Member::file(path("a.sql"))], StatementsOptions::new(Dialect::mariadb(MARIADB))).unwrap();
    let items = texts(statements.map(|item| item.map_err(|error| error.to_string())).collect());
    assert!(items[0].contains("b.sql:1 (byte 0): cannot source a.sql: the file sources itself"), "{items:?}");
    assert_eq!(items[1..], ["select 2", "select 1"]);
}

#[test]
fn each_file_of_several_begins_as_a_client_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.sql"), "delimiter //\nselect 1;//quit\n").unwrap();
    fs::write(path("b.sql"), "\u{feff}select 2;select 3").unwrap();
    let options = StatementsOptions::new(Dialect::mariadb(MARIADB));
    let statements =
        Statements::open(&[Member::file(path("a.sql")), Member::file(path("b.sql"))], options.clone()).unwrap();
    assert_eq!(statements.progress().total_bytes(), Some(49));
    let items = texts(statements.map(|item| item.map_err(|error| error.to_string())).collect());
    assert_eq!(items, ["select 1;", "quit", "select 2", "select 3"]);
    let missing = Statements::open(&[Member::file(path("a.sql")), Member::file(path("c.sql"))], options).unwrap_err();
    assert!(missing.to_string().contains("cannot open"), "{missing}");
}

#[test]
fn what_a_statement_changes_counts_for_the_next() {
    let text = br"select '\'; select '\'; select 1;";
    let mut dialect = Dialect::mariadb(MARIADB);
    let source = Source::from_reader("dump", &text[..]).unwrap();
    let mut statements = Statements::new(source, StatementsOptions::new(dialect));
    dialect.no_backslash_escapes = true;
    statements.set_dialect(dialect);
    assert!(matches!(statements.next(), Some(Ok(Item::Statement(one))) if one.text == br"select '\'"));
    dialect.no_backslash_escapes = false;
    statements.set_dialect(dialect);
    assert!(matches!(statements.next(), Some(Err(Error::Unterminated { .. }))));
}

#[test]
fn what_is_read_ahead_is_read_again_under_other_modes() {
    let text = b"select 1; -- one\ndelimiter //\nselect '\\'// select 'b'; '// use d//\n";
    let dialect = Dialect::mariadb(MARIADB);
    let mut statements =
        Statements::new(Source::from_reader("dump", &text[..]).unwrap(), StatementsOptions::new(dialect));
    assert!(statements.read_ahead().is_none(), "nothing is in memory");
    assert!(matches!(statements.next(), Some(Ok(Item::Statement(one))) if one.text == b"select 1"));
    let (ahead, mark) = statements.read_ahead().unwrap();
    assert_eq!(ahead.text, b"select '\\'// select 'b'; '");
    statements.rewind(mark);
    statements.set_dialect(Dialect { no_backslash_escapes: true, ..dialect });
    let Some(Ok(Item::Statement(again))) = statements.next() else { panic!("it is there") };
    assert_eq!((&again.text[..], again.location.line, again.location.ordinal), (&b"select '\\'"[..], 3, 2));
}

#[test]
fn a_line_is_enough_for_what_stands_in_it() {
    /// What a person types, who then waits.
    struct Typed(std::vec::IntoIter<&'static str>);
    impl Read for Typed {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            let line = self.0.next().expect("nothing more is waited for");
            target[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }
    let lines =
        vec!["select 1;\n", "use d\n", "select 2; select\n", "3;\n", "\n", "delimiter //\n", "do 4 //\n", "\\. x"];
    let typed = Source::from_reader("typed", Typed(lines.into_iter())).unwrap();
    let statements = Statements::new(typed, StatementsOptions::new(Dialect::mariadb(MARIADB)));
    let first: Vec<_> = statements.take(5).map(|item| item.map_err(|error| error.to_string())).collect();
    assert_eq!(texts(first), ["select 1", "[use d]", "select 2", "select\n3", "do 4"]);
}

#[test]
fn a_statement_beyond_the_limit_ends_the_input() {
    let mut options = StatementsOptions::new(Dialect::mariadb(MARIADB));
    options.statement_limit_bytes = 1000;
    let text = [&b"select 1;\nselect '"[..], &[b'x'; 2000], b"'; select 2;"].concat();
    let items = texts(split(&text, &[100], &options, false));
    assert_eq!(items.len(), 2);
    assert!(items[1].contains("dump:2 (byte 10): the statement that starts here is larger than 1000 bytes"));
}

#[test]
fn errors_name_the_place_and_go_on_as_the_client_does_with_force() {
    let items = texts(cut_default(b"select 1;\n\\! ls\nselect 2;\nselect 3 \\x;\nselect /* open"));
    assert_eq!(
        items,
        [
            "select 1",
            "[dump:2 (byte 10): a load does not run the client command `system`: remove it from the dump]",
            "select 2",
            "[dump:4 (byte 35): unknown command '\\x'; is a quote missing before it?]",
            "select 3 \\x",
            "[dump:5 (byte 46): the comment that starts here has no end: the lexer read the rest of the input as part of \
             it; is the dump truncated?]",
            "select",
        ]
    );
    let nul = texts(cut_default(b"select 1;\nselect '\0';\nselect 2;"));
    assert_eq!(nul.len(), 2);
    assert!(nul[1].contains("dump:2 (byte 18): the dump has a NUL byte"), "{nul:?}");
}

#[test]
fn a_long_line_that_begins_like_a_command_is_cut_within_bounds() {
    let long = format!("use d1; insert into t values {};\n", "(1),".repeat(600_000));
    let items = texts(cut_default(long.as_bytes()));
    assert_eq!(items.len(), 2);
    assert_eq!(items[0], "[use d1]");
    assert_eq!(items[1].len(), long.len() - 10);
}

#[test]
fn files_are_named_as_they_were_given() {
    let missing = Statements::open(&[Member::file("no/such.sql")], StatementsOptions::new(Dialect::mariadb(MARIADB)));
    assert!(missing.unwrap_err().to_string().starts_with("cannot open no/such.sql: "));
}
