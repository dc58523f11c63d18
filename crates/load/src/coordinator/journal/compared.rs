//! Definitions of which a load that resumes can see whether they are done: `CREATE` of a routine, a trigger or an event
//! that recurs, without an option for the case that there is one. The server shows its body as it is written in the statement. Where there is one
//! of the name with another body, the statement fails, as it would with the client.

use hortator_mysql::{Connection, Error, quote_string};

use crate::analysis::{Postcondition, StatementInfo, StatementKind, Trait};
use crate::coordinator::analyzed_statement::AnalyzedStatement;

/// How a definition is asked for: what `SHOW CREATE` calls it, and a query for its body by schema and name.
const QUESTIONS: [(&[u8], &str, &str); 4] = [
    (
        b"SHOW CREATE PROCEDURE ",
        "SELECT ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_SCHEMA = ",
        " AND ROUTINE_NAME = ",
    ),
    (
        b"SHOW CREATE FUNCTION ",
        "SELECT ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_SCHEMA = ",
        " AND ROUTINE_NAME = ",
    ),
    (
        b"SHOW CREATE TRIGGER ",
        "SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ",
        " AND TRIGGER_NAME = ",
    ),
    (
        b"SHOW CREATE EVENT ",
        "SELECT EVENT_DEFINITION FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ",
        " AND EVENT_NAME = ",
    ),
];

/// A definition of a function of a library has the name of that within these.
const LIBRARY_BYTES: usize = 512;

/// Whether a definition is one of these, and the server shows it byte by byte.
pub(in crate::coordinator) fn is_compared(statement: &AnalyzedStatement) -> bool {
    let info = &statement.info;
    matches!(info.kind, StatementKind::OtherDdl)
        && info.is(Trait::HasBody)
        && !info.is(Trait::Idempotent)
        && !info.is(Trait::SeveralStatements)
        && is_shown_as_written(&statement.text)
        && definition(info).is_some_and(|definition| !definition.is_event || info.is(Trait::Recurs))
        && !is_of_library(&statement.text)
}

/// Whether it may define a function of a library, which has no body.
fn is_of_library(text: &[u8]) -> bool {
    text[..text.len().min(LIBRARY_BYTES)].to_ascii_uppercase().windows(6).any(|word| word == b"SONAME")
}

/// Whether such a definition is there with this body.
pub(in crate::coordinator) fn is_defined(
    connection: &mut Connection,
    statement: &AnalyzedStatement,
    database: Option<&[u8]>,
) -> Result<bool, Error> {
    let Some(Definition { of_schema, of_name, schema, name, .. }) = definition(&statement.info) else {
        return Ok(false);
    };
    let Some(schema) = schema.or(database) else { return Ok(false) };
    let query = [of_schema.as_bytes(), &quote_string(schema), of_name.as_bytes(), &quote_string(name)].concat();
    let rows = connection.fetch(&query)?;
    let body = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten()).unwrap_or_default();
    let body = body.trim_ascii_end();
    // A version comment may be around it.
    let text = statement.text.trim_ascii_end();
    let text = text.strip_suffix(b"*/").unwrap_or(text).trim_ascii_end();
    Ok(!body.is_empty() && text.ends_with(body))
}

/// Whether `information_schema` shows a body as it is written: it converts other character sets, resolves escapes in
/// strings, and leaves out the character sets before them.
fn is_shown_as_written(text: &[u8]) -> bool {
    let names_charset = |quote: usize| {
        let before = text[..quote].trim_ascii_end();
        let start = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let word = &before[start.map_or(0, |at| at + 1)..];
        word.starts_with(b"_") || word.eq_ignore_ascii_case(b"n")
    };
    text.is_ascii()
        && memchr::memchr(b'\\', text).is_none()
        && !memchr::memchr2_iter(b'\'', b'"', text).any(names_charset)
}

/// What a definition makes.
struct Definition<'s> {
    /// The query for its body, up to the schema's name, and up to its own.
    of_schema: &'static str,
    of_name: &'static str,
    /// Where it is given.
    schema: Option<&'s [u8]>,
    name: &'s [u8],
    is_event: bool,
}

fn definition(info: &StatementInfo) -> Option<Definition<'_>> {
    let target = info.ddl_target.as_ref().filter(|target| target.postcondition == Postcondition::Changed)?;
    let [question] = &target.questions[..] else { return None };
    let (shown, of_schema, of_name) = QUESTIONS.iter().find(|(shown, ..)| question.starts_with(shown))?;
    let quoted = question.strip_prefix(*shown)?.strip_prefix(b"`")?.strip_suffix(b"`")?;
    let (schema, name) = match memchr::memmem::find(quoted, b"`.`") {
        Some(at) => (Some(&quoted[..at]), &quoted[at + 3..]),
        None => (None, quoted),
    };
    let is_plain = memchr::memchr(b'`', name).is_none() && schema.is_none_or(|schema| !schema.contains(&b'`'));
    let is_event = shown.ends_with(b"EVENT ");
    is_plain.then_some(Definition { of_schema, of_name, schema, name, is_event })
}
