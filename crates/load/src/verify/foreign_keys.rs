//! Whether every row of the stream's tables that refers to another finds it.

use std::collections::BTreeSet;

use hortator_check::constraints::{Constraint, Finding, Observer, Scope, Validator, Violation, foreign_keys};
use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error};

use super::Verify;
use super::inventory::Inventory;
use super::report::Findings;

/// Rows that are told with values, of each foreign key.
const ROWS_TOLD: usize = 3;
/// Bytes of a value that is told.
const VALUE_BYTES: usize = 60;

/// Proves the foreign keys of all tables that the stream made or filled, unless the load did so already.
pub(super) fn prove(
    verify: &Verify<'_>,
    connection: &mut Connection,
    inventory: &Inventory,
    findings: &mut Findings,
) -> Result<(), Error> {
    if let Some(proven) = verify.proven_foreign_keys {
        findings.foreign_keys = proven;
        return Ok(());
    }
    let relations = verify.expectations.relations().iter();
    let touched = relations.filter(|(name, relation)| {
        inventory.relations.contains_key(*name) && (relation.is_made || verify.loaded.contains_key(&name.to_string()))
    });
    let of: BTreeSet<TableName> = touched.map(|(name, _)| name.clone()).collect();
    let scope = Scope { of, ..Scope::default() };
    let keys: Vec<Constraint> = foreign_keys(connection, &scope)?.into_iter().map(Constraint::ForeignKey).collect();
    let prover =
        Validator { open: &|| verify.open(), threads: verify.threads, rows_limit: ROWS_TOLD, observer: &Unwatched };
    let broken = prover.validate(&keys)?;
    findings.foreign_keys = (keys.len() - broken.len()) as u64;
    for finding in &broken {
        findings.problem(shown(finding));
    }
    Ok(())
}

fn shown(Finding { constraint, violation: fault }: &Finding) -> String {
    let name = match constraint {
        Constraint::ForeignKey(key) => String::from_utf8_lossy(&key.name),
        Constraint::Unique(key) => String::from_utf8_lossy(&key.name),
    };
    let told = match fault {
        Violation::Rows { count, first } => {
            let rows = first.iter().map(|row| {
                let value = |(column, value): &(Vec<u8>, Option<Vec<u8>>)| {
                    let text = value.as_ref().map_or_else(
                        || "NULL".to_owned(),
                        |value| format!("'{}'", value[..value.len().min(VALUE_BYTES)].escape_ascii()),
                    );
                    format!("{} = {text}", String::from_utf8_lossy(column))
                };
                format!("({})", row.values.iter().map(value).collect::<Vec<_>>().join(", "))
            });
            format!("{count} rows refer to none that is there: {}", rows.collect::<Vec<_>>().join(", "))
        }
        Violation::NoParent => "the table that it refers to is not there".to_owned(),
        Violation::NoParentKey => "the table that it refers to has no key on those columns".to_owned(),
        Violation::NotValidated(refusal) => format!("it could not be proven: {refusal}"),
    };
    format!("foreign key {name} of {}: {told}", constraint.table())
}

/// Nobody looks on: an interrupt ends the program.
struct Unwatched;

impl Observer for Unwatched {
    fn runs_on(&self, _prover: usize, _connection_id: u32) {}

    fn is_ended(&self) -> bool {
        false
    }
}
