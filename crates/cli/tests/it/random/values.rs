//! Types of columns, and values for them in every spelling that a dump may use.

use super::dice::Dice;

/// What of the session a literal's spelling depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spelling {
    /// `\` is a letter like any other.
    pub no_backslash_escapes: bool,
    /// `"` is for names.
    pub ansi_quotes: bool,
    /// The charset of `SET NAMES`.
    pub charset: Charset,
    /// `SET timestamp` has fixed what NOW() gives.
    pub has_fixed_time: bool,
    /// Values are literals, as mysqldump writes them: rows that can travel as arrays.
    pub only_literals: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charset {
    Utf8mb4,
    Latin1,
    Binary,
}

impl Charset {
    pub const ALL: [Charset; 3] = [Charset::Utf8mb4, Charset::Latin1, Charset::Binary];

    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Latin1 => "latin1",
            Charset::Binary => "binary",
        }
    }
}

/// A column's type, as far as values for it differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Integer {
        limit: i64,
    },
    /// A number that no other row of the dump has, but for a few.
    Fresh,
    Number,
    Text,
    Bytes,
    Date,
    Time,
    Year,
    Enum,
    Set,
    Bit,
    Json,
    Point,
    Uuid,
}

/// Types with the kind of their values.
pub const TYPES: [(&str, Kind); 28] = [
    ("TINYINT", Kind::Integer { limit: 127 }),
    ("SMALLINT UNSIGNED", Kind::Integer { limit: 65_535 }),
    ("MEDIUMINT", Kind::Integer { limit: 8_388_607 }),
    ("INT", Kind::Integer { limit: 2_147_483_647 }),
    ("INT(6) UNSIGNED ZEROFILL", Kind::Integer { limit: 4_294_967_295 }),
    ("BIGINT", Kind::Integer { limit: i64::MAX - 1 }),
    ("DECIMAL(10,3)", Kind::Number),
    ("DECIMAL(40,20)", Kind::Number),
    ("FLOAT", Kind::Number),
    ("DOUBLE", Kind::Number),
    ("VARCHAR(20)", Kind::Text),
    ("VARCHAR(20) CHARACTER SET latin1", Kind::Text),
    ("CHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", Kind::Text),
    ("TEXT", Kind::Text),
    ("BLOB", Kind::Bytes),
    ("VARBINARY(24)", Kind::Bytes),
    ("BINARY(6)", Kind::Bytes),
    ("DATE", Kind::Date),
    ("DATETIME(3)", Kind::Date),
    ("TIMESTAMP NULL", Kind::Date),
    ("TIME(2)", Kind::Time),
    ("YEAR", Kind::Year),
    ("ENUM('a','b','it''s','2')", Kind::Enum),
    ("SET('x','y','z')", Kind::Set),
    ("BIT(10)", Kind::Bit),
    ("JSON", Kind::Json),
    ("POINT", Kind::Point),
    ("UUID", Kind::Uuid),
];

/// A literal or an expression for a column of this kind; seldom one that does not fit it.
pub fn value(dice: &mut Dice, kind: Kind, spelling: Spelling) -> Vec<u8> {
    if spelling.only_literals {
        // Most expressions have brackets or operators; those that have not are let through.
        let made = (0..20).map(|_| any_value(dice, kind, spelling)).find(|value| looks_literal(value));
        return made.unwrap_or_else(|| b"NULL".to_vec());
    }
    any_value(dice, kind, spelling)
}

fn looks_literal(value: &[u8]) -> bool {
    let is_text = value.contains(&b'\'') || value.contains(&b'"');
    let has_sign = |signs: &[u8]| value.iter().any(|byte| signs.contains(byte));
    let starts = |words: &[&str]| words.iter().any(|word| value.starts_with(word.as_bytes()));
    if is_text {
        !starts(&["CONCAT", "JSON", "ST_", "DATE", "TIME"]) && !value.ends_with(b" 'x'")
    } else {
        !has_sign(b"(*/ ")
    }
}

fn any_value(dice: &mut Dice, kind: Kind, spelling: Spelling) -> Vec<u8> {
    if dice.chance(if spelling.only_literals { 1 } else { 2 }) {
        return misfit(dice, spelling);
    }
    match kind {
        Kind::Integer { limit } => integer(dice, limit).into_bytes(),
        Kind::Number | Kind::Fresh => number(dice).into_bytes(),
        Kind::Text => text(dice, spelling),
        Kind::Bytes => bytes(dice, spelling),
        Kind::Date => date(dice, spelling).into_bytes(),
        Kind::Time => time(dice).into_bytes(),
        Kind::Year => choose(dice, &["2020", "'1999'", "70", "'69'", "0", "'0'", "99", "2155"]),
        Kind::Enum => choose(dice, &["'a'", "'b'", "'it''s'", "'2'", "2", "1", "3", "'A'"]),
        Kind::Set => choose(dice, &["'x'", "'y,x'", "''", "7", "0", "'z,z'", "3"]),
        Kind::Bit => choose(dice, &["b'1010101010'", "5", "'a'", "x'01ff'", "0", "b''", "TRUE", "0x3f"]),
        Kind::Json => {
            choose(dice, &["'{}'", "'[1, 2.50, null]'", "'{\"a\": \"it''s\"}'", "'\"x\"'", "JSON_ARRAY(1,'b')", "7"])
        }
        Kind::Point => choose(dice, &["POINT(1,2)", "ST_GeomFromText('POINT(3 4)')", POINT_IN_HEX]),
        Kind::Uuid => uuid(dice).into_bytes(),
    }
}

const POINT_IN_HEX: &str = "0x000000000101000000000000000000F03F0000000000000040";

fn choose(dice: &mut Dice, choices: &[&str]) -> Vec<u8> {
    dice.pick(choices).as_bytes().to_vec()
}

/// Bent in permissive mode, an error in strict mode.
fn misfit(dice: &mut Dice, spelling: Spelling) -> Vec<u8> {
    match dice.below(4) {
        0 => choose(dice, &["99999999999999999999", "-1e300", "'12abc'", "''", "'abc'", "-129"]),
        1 => choose(dice, &["'2020-02-31'", "'0000-00-00'", "'25:61:00'", "20209999"]),
        2 => quoted(&b"longer than any of the short columns here is wide".repeat(2), spelling),
        _ => choose(dice, &["NULL", "TRUE", "0x00", "'{'", "1/0"]),
    }
}

fn integer(dice: &mut Dice, limit: i64) -> String {
    let number = match dice.below(6) {
        0 => limit,
        1 => 0,
        _ => dice.between(0, limit.min(100)),
    };
    match dice.below(24) {
        0 => format!("'{number}'"),
        1 => format!("+{number}"),
        2 => format!("{}.4", number.min(100)),
        3 => format!("0x{:x}", number.min(100)),
        4 => format!("b'{:b}'", number.min(100)),
        5 => "TRUE".to_owned(),
        6 => format!("{} + 1", number.min(100)),
        7 => format!("00{number}"),
        8 => format!("({number})"),
        9 => format!("{number} /* it's; a comment */"),
        10 => format!("'{}e1'", number.min(9)),
        11 => format!("{}e0", number.min(100)),
        _ => number.to_string(),
    }
}

fn number(dice: &mut Dice) -> String {
    let whole = dice.between(-2000, 2000);
    let part = dice.below(100_000);
    match dice.below(12) {
        0 => format!("'{whole}.{part}'"),
        1 => format!("{whole}.{part:05}"),
        2 => format!("{whole}e-{}", dice.below(6)),
        3 => format!("-.{part}"),
        4 => "-0.0".to_owned(),
        5 => format!("{whole}."),
        6 => format!("' {whole}'"),
        7 => format!("{whole}.{part} * 2"),
        8 => format!("{}.{part:05}1234567890123456789", whole.abs()),
        9 => "0x10".to_owned(),
        _ => whole.to_string(),
    }
}

fn date(dice: &mut Dice, spelling: Spelling) -> String {
    let (year, month, day) = (dice.between(1971, 2037), dice.between(1, 12), dice.between(1, 28));
    let (hour, minute) = (dice.below(24), dice.below(60));
    match dice.below(9) {
        0 => format!("'{year}-{month}-{day}'"),
        1 => format!("{year}{month:02}{day:02}"),
        2 => format!("'{year}-{month:02}-{day:02} {hour}:{minute}:07.1236'"),
        3 => format!("{year}{month:02}{day:02}{hour:02}{minute:02}08"),
        4 => format!("DATE'{year}-{month:02}-{day:02}'"),
        5 => format!("'{year}/{month}/{day} 1:2:3'"),
        6 if spelling.has_fixed_time => "NOW()".to_owned(),
        7 => "'2038-01-18 12:00:00'".to_owned(),
        _ => format!("'{year}-{month:02}-{day:02} {hour:02}:{minute:02}:00'"),
    }
}

fn time(dice: &mut Dice) -> String {
    let (hour, minute) = (dice.below(24), dice.below(60));
    match dice.below(6) {
        0 => format!("'-{hour}:{minute}:01.239'"),
        1 => format!("'{}:{minute:02}:59'", hour + 800),
        2 => format!("{hour}{minute:02}30"),
        3 => format!("'{hour}:{minute}'"),
        4 => format!("TIME'{hour}:{minute}:5'"),
        _ => format!("'{hour:02}:{minute:02}:00'"),
    }
}

fn uuid(dice: &mut Dice) -> String {
    let (high, low) = (dice.below(u64::from(u32::MAX)), dice.below(1 << 48));
    match dice.below(3) {
        0 => format!("x'{high:08x}00004000a000{low:012x}'"),
        _ => format!("'{high:08x}-0000-4000-a000-{low:012x}'"),
    }
}

/// Pieces that a lexer could take for something else.
const PIECES: [&str; 20] = [
    "a", "b", "Z", " ", "'", "\"", "\\", "\n", ";", "--", " -- ", "#", "/*", "*/", "),(", "`", "\t", "NULL", "\r\n",
    "%_",
];

fn text(dice: &mut Dice, spelling: Spelling) -> Vec<u8> {
    let mut content = Vec::new();
    for _ in 0..dice.below(6) {
        if dice.chance(20) {
            match spelling.charset {
                // The last two are in no latin1 column.
                Charset::Utf8mb4 => {
                    let index = dice.weighted(&[30, 30, 30, 2, 2]);
                    content.extend(["é", "ß", "€", "日", "😀"][index].as_bytes());
                }
                _ => content.push(*dice.pick(&[0xe9, 0xdf, 0xff, 0x80, 0xa0])),
            }
        } else {
            content.extend(dice.pick(&PIECES).as_bytes());
        }
    }
    match dice.below(20) {
        0 => [b"N".to_vec(), quoted(b"national", spelling)].concat(),
        1 => [b"_latin1".to_vec(), quoted(b"intro'duced", spelling)].concat(),
        2 => [quoted(&content, spelling), b" 'x'".to_vec()].concat(),
        3 => [b"CONCAT(".to_vec(), quoted(&content, spelling), b",1)".to_vec()].concat(),
        4 if !spelling.ansi_quotes => b"\"double \"\" it's\"".to_vec(),
        5 => choose(dice, &["007", "1.50", "1e3", "0x4142", "x''", "-.5", "TRUE", "b'1000001'"]),
        _ => quoted(&content, spelling),
    }
}

fn bytes(dice: &mut Dice, spelling: Spelling) -> Vec<u8> {
    let content: Vec<u8> = (0..dice.below(6)).map(|_| u8::try_from(dice.below(256)).expect("below 256")).collect();
    let hex: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
    match dice.below(5) {
        0 if !hex.is_empty() => format!("0x{hex}").into_bytes(),
        1 => format!("x'{hex}'").into_bytes(),
        2 => choose(dice, &["'plain'", "42", "''", "'é'"]),
        _ => [b"_binary ".to_vec(), quoted(&content, spelling)].concat(),
    }
}

/// Between quotes as the session reads them. A NUL and line ends cannot stand for themselves in the client's stream, so
/// where nothing can be escaped they are left out.
pub fn quoted(content: &[u8], spelling: Spelling) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in content {
        match byte {
            b'\'' => quoted.extend(b"''"),
            0 | b'\r' if spelling.no_backslash_escapes => {}
            _ if spelling.no_backslash_escapes => quoted.push(byte),
            0 => quoted.extend(b"\\0"),
            b'\\' => quoted.extend(b"\\\\"),
            b'\n' => quoted.extend(b"\\n"),
            b'\r' => quoted.extend(b"\\r"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}
