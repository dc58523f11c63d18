//! A statement as the source ran it, with the session state that it needs.

use hortator_load::lexer::Dialect;

use super::compressed::uncompress;
use super::event_kind::EventKind;
use super::fields::{Fields, Found};
use super::format_description::FormatDescription;
use super::statement_dialect::statement_dialect;
use super::statement_settings::{self, StatementSetting};

/// The fixed part of all versions; later ones may have more behind it.
const FIXED_BYTES: usize = 13;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryEvent {
    /// The connection that ran it: temporary tables belong to it.
    pub thread_id: u32,
    /// The error that it ended with on the source; 0 is none.
    pub error_code: u16,
    /// Its default schema.
    pub schema: Vec<u8>,
    /// Session variables in the server's own form.
    pub status_variables: Vec<u8>,
    /// What `SET STATEMENT … FOR` before it sets.
    pub settings: Vec<StatementSetting>,
    /// Its text behind that, in the character set that `status_variables` names.
    pub text: Vec<u8>,
    /// Why the target cannot run it, where the text tells.
    pub refused: Option<String>,
}

impl QueryEvent {
    /// Reads the event's bytes between header and checksum.
    pub(super) fn read(kind: EventKind, body: &[u8], format: &FormatDescription) -> Result<QueryEvent, Found> {
        let mut fields = Fields(body);
        let thread_id = fields.u32("the thread id")?;
        fields.u32("the run time")?;
        let schema_bytes = fields.u8("the length of the schema's name")?;
        let error_code = fields.u16("the error")?;
        let status_bytes = fields.u16("the length of the session variables")?;
        let more = format.post_header_bytes(kind).saturating_sub(FIXED_BYTES);
        fields.bytes(more, "the fixed part")?;
        let status_variables = fields.bytes(status_bytes.into(), "the session variables")?.to_vec();
        let schema = fields.bytes(schema_bytes.into(), "the schema's name")?.to_vec();
        fields.zero("the schema's name")?;
        let text = match kind {
            EventKind::QUERY_COMPRESSED => uncompress(fields.0)?,
            _ => fields.0.to_vec(),
        };
        let found = statement_settings::split(&text, &source_dialect(&status_variables));
        let (settings, text) = found.unwrap_or((Vec::new(), text));
        Ok(QueryEvent { thread_id, error_code, schema, status_variables, settings, text, refused: None })
    }

    /// A statement of no schema and no session variables.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> QueryEvent {
        let text = text.as_bytes().to_vec();
        let (settings, text) = statement_settings::split(&text, &source_dialect(b"")).unwrap_or((Vec::new(), text));
        let (schema, status_variables) = (Vec::new(), Vec::new());
        QueryEvent { thread_id: 1, error_code: 0, schema, status_variables, settings, text, refused: None }
    }

    /// How the source has read its text: it has run what its version comments have.
    pub(crate) fn dialect(&self) -> Dialect {
        source_dialect(&self.status_variables)
    }

    /// Whether it is this word: servers write BEGIN, COMMIT and ROLLBACK as statements.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether it is a statement of an XA transaction, as the server writes them.
    pub(crate) fn is_xa(&self) -> bool {
        self.text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"XA "))
    }
}

fn source_dialect(status: &[u8]) -> Dialect {
    statement_dialect(status, Dialect::mariadb(u32::MAX))
}
