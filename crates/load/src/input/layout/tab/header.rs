//! What the settings before a definition say of the table's rows.

use super::columns::BINARY;
use crate::lexer::Charset;

/// How mariadb-dump begins the settings that it restores at the end; `--compact` writes none.
const RESTORED: &[u8] = b"SET @OLD_";

/// The character set of the rows. Without `--default-character-set`, each column has its own; else all have that, which
/// the settings name. utf8mb4 is what they name without the option. Where they name none, it is that of the load.
pub(super) fn rows_charset(header: &[u8], charset_of_load: &str) -> Result<String, String> {
    let named = settings(header).find_map(|setting| setting.strip_prefix(b"SET NAMES "));
    let charset = named.map_or_else(
        || charset_of_load.to_owned(),
        |rest| {
            let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
            String::from_utf8_lossy(&rest[..end]).into_owned()
        },
    );
    if Charset::from_name(charset.as_bytes()) != Charset::AsciiSafe {
        return Err(format!("its rows are in {charset}, which is not supported: dump without --default-character-set"));
    }
    Ok(if charset.is_empty() || charset == "utf8mb4" { BINARY.to_owned() } else { charset })
}

/// The time zone of the rows, as SET has it. Only settings without one tell that it is not UTC (`--skip-tz-utc`).
pub(super) fn time_zone(header: &[u8]) -> &'static str {
    let has = |begin: &[u8]| settings(header).any(|setting| setting.starts_with(begin));
    if has(b"SET TIME_ZONE='+00:00'") || !has(RESTORED) { "'+00:00'" } else { "DEFAULT" }
}

/// The statements that set something: one a line, most of them in a comment with a version.
fn settings(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    header.split(|&byte| byte == b'\n').filter_map(|line| {
        let setting = match line.strip_prefix(b"/*!") {
            Some(rest) => &rest[rest.iter().position(|byte| !byte.is_ascii_digit())?..],
            None => line,
        };
        Some(setting.trim_ascii_start()).filter(|setting| setting.starts_with(b"SET "))
    })
}

#[test]
fn settings_are_lines_of_their_own() {
    let utc = "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;\n/*!40103 SET TIME_ZONE='+00:00' */;\n";
    let local = "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='' */;\n";
    let compact = "/*!40101 SET @saved_cs_client     = @@character_set_client */;\n";
    for (header, expected) in [(utc, "'+00:00'"), (local, "DEFAULT"), (compact, "'+00:00'"), ("", "'+00:00'")] {
        assert_eq!(time_zone(header.as_bytes()), expected, "{header}");
    }
    for (header, of_load, expected) in [
        ("/*!40101 SET NAMES latin1 */;\n", "utf8mb4", "latin1"),
        ("SET NAMES cp1251;\n", "latin1", "cp1251"),
        ("/*!40101 SET NAMES utf8mb4 */;\n", "latin1", "binary"),
        (utc, "latin1", "latin1"),
        ("-- Host: localhost    Database: SET NAMES latin1\n", "utf8mb4", "binary"),
    ] {
        assert_eq!(rows_charset(header.as_bytes(), of_load).as_deref(), Ok(expected), "{header}");
    }
    assert!(rows_charset(b"", "sjis").is_err());
}
