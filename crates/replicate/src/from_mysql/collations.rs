//! Collations of MySQL 8 and those of MariaDB in which the same texts are equal: both follow the Unicode Collation Algorithm
//! and do not pad with spaces, MySQL by version 9.0.0, MariaDB by 14.0.0. MariaDB has them since 10.10.

use super::Refusal;

/// MySQL's name of a language, MariaDB's, the numbers of MySQL's `ai_ci` and `as_cs`, and that of the language in MariaDB.
const LANGUAGES: [(&str, &str, u32, u32, u32); 22] = [
    ("", "", 255, 278, 0),
    ("is_", "icelandic_", 257, 280, 1),
    ("lv_", "latvian_", 258, 281, 2),
    ("ro_", "romanian_", 259, 282, 3),
    ("sl_", "slovenian_", 260, 283, 4),
    ("pl_", "polish_", 261, 284, 5),
    ("et_", "estonian_", 262, 285, 6),
    ("es_", "spanish_", 263, 286, 7),
    ("sv_", "swedish_", 264, 287, 8),
    ("tr_", "turkish_", 265, 288, 9),
    ("cs_", "czech_", 266, 289, 10),
    ("da_", "danish_", 267, 290, 11),
    ("lt_", "lithuanian_", 268, 291, 12),
    ("sk_", "slovak_", 269, 292, 13),
    ("es_trad_", "spanish2_", 270, 293, 14),
    ("la_", "roman_", 271, 294, 15),
    ("eo_", "esperanto_", 273, 296, 17),
    ("hu_", "hungarian_", 274, 297, 18),
    ("de_pb_", "german2_", 256, 279, 20),
    ("vi_", "vietnamese_", 277, 300, 23),
    ("hr_", "croatian_", 275, 298, 24),
    // Its order is another one: Cyrillic letters come first.
    ("ru_", "", 306, 307, 0),
];
/// The one without accents that counts letters' case as equal.
const ROOT_AS_CI: u32 = 305;
const BINARY: (&str, u32, &str, u32) = ("utf8mb4_0900_bin", 309, "utf8mb4_nopad_bin", 1070);
/// The number of MariaDB's first one, `utf8mb4_uca1400_nopad_ai_ci`, and how many a language has.
const FIRST: u32 = 2308;
const OF_LANGUAGE: u32 = 8;
const AS_CI: u32 = 2;
const AS_CS: u32 = 3;
/// Numbers that MariaDB does not have.
const OF_MYSQL: std::ops::RangeInclusive<u32> = 255..=323;
/// The first MariaDB that has them.
const SINCE: u32 = 101_001;

/// Whether a target of this version lacks them.
pub(crate) fn is_needed(target_version: u32) -> bool {
    target_version < SINCE
}

/// MariaDB's number for one of MySQL; `None` where it has none.
pub(super) fn number(id: u32) -> Option<u32> {
    if !OF_MYSQL.contains(&id) {
        return Some(id);
    }
    if id == BINARY.1 {
        return Some(BINARY.3);
    }
    if id == ROOT_AS_CI {
        return Some(FIRST + AS_CI);
    }
    LANGUAGES.iter().find_map(|(_, _, ai_ci, as_cs, language)| {
        let first = FIRST + language * OF_LANGUAGE;
        if id == *ai_ci { Some(first) } else { (id == *as_cs).then_some(first + AS_CS) }
    })
}

/// What MariaDB has for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// The same name.
    Same,
    /// Another one.
    Other(String),
    /// Nothing.
    None,
}

/// MariaDB's name for one of MySQL.
pub(super) fn name(mysql: &str) -> Name {
    let mysql = mysql.to_ascii_lowercase();
    if mysql == BINARY.0 {
        return Name::Other(BINARY.2.to_owned());
    }
    let Some((language, strength)) = mysql.strip_prefix("utf8mb4_").and_then(|rest| rest.split_once("0900_")) else {
        // Of a character set that MariaDB does not have.
        return if mysql.starts_with("gb18030_") { Name::None } else { Name::Same };
    };
    let is_known = match strength {
        "ai_ci" | "as_cs" => true,
        "as_ci" => language.is_empty(),
        _ => false,
    };
    match LANGUAGES.iter().find(|row| row.0 == language) {
        Some(row) if is_known => Name::Other(format!("utf8mb4_uca1400_{}nopad_{strength}", row.1)),
        _ => Name::None,
    }
}

/// The name of a number of MySQL's default collations for utf8mb4.
pub(super) fn default_name(id: u16) -> Option<&'static str> {
    match id {
        255 => Some("utf8mb4_uca1400_nopad_ai_ci"),
        _ => None,
    }
}

/// Why a statement that names a collation is refused.
pub(super) fn refusal(name: &str) -> Refusal {
    Refusal {
        reason: format!("MariaDB has no collation in which the same texts are equal as in {name}").into(),
        remedy: "run the statement on the target with another one, then `skip` it",
    }
}
