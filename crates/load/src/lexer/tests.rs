//! Tokens and literals of one statement.

use super::*;

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
