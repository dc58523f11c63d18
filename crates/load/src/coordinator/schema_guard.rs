//! Guards the checkpoint schema: a dump must not change it.

use super::Coordinator;
use crate::apply::Stopped;
use crate::lexer::{Kind, Location, Token, tokens};
use crate::report::Failure;
use crate::statement_kind::StatementKind;

/// Words that begin statements which act on a whole schema, if a word behind says so.
const OF_SCHEMAS: &[&[u8]] = &[b"CREATE", b"ALTER", b"DROP"];

impl Coordinator<'_> {
    /// Ends the load at a statement that would change the records themselves.
    pub(super) fn check_schema_guard(
        &mut self,
        text: &[u8],
        location: &Location,
        kind: &StatementKind,
    ) -> Result<(), Stopped> {
        let Some(checkpoints) = self.main.checkpoints else { return Ok(()) };
        let dialect = self.main.dialect();
        let is_theirs = |name: &[u8]| name.eq_ignore_ascii_case(checkpoints.schema().as_bytes());
        let in_theirs = |schema: Option<&Vec<u8>>| {
            schema.or(self.main.state().database.as_ref()).is_some_and(|schema| is_theirs(schema))
        };
        let concerns = match kind {
            StatementKind::Rows(head) => in_theirs(head.schema.as_ref()),
            StatementKind::TableDdl { tables, .. } | StatementKind::OtherDdl { tables } if !tables.is_empty() => {
                tables.iter().any(|table| in_theirs(table.schema.as_ref()))
            }
            StatementKind::OtherDdl { .. } | StatementKind::Barrier { .. } => {
                let head: Vec<Token<'_>> = tokens(text, &dialect).take(8).collect();
                let of_schema = head.first().is_some_and(|first| OF_SCHEMAS.iter().any(|word| first.is_word(word)))
                    && head.iter().any(|token| token.is_word(b"DATABASE") || token.is_word(b"SCHEMA"));
                of_schema
                    && head.iter().skip(2).any(|token| match &token.kind {
                        Kind::Word(name) => is_theirs(name),
                        Kind::QuotedIdentifier(name) => is_theirs(name),
                        _ => false,
                    })
            }
            _ => false,
        };
        if !concerns {
            return Ok(());
        }
        // What stands before goes in.
        self.flush()?;
        let message = format!(
            "the statement changes the checkpoint schema `{}`: choose another schema with --checkpoint-schema, or remove the statement",
            checkpoints.schema(),
        );
        self.pool.fail(self.pool.position(), Failure::of_checkpoint(location, text, message), true);
        Err(Stopped)
    }
}
