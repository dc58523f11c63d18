//! Checks that every child row of the stream's tables has its parent row.

use std::collections::BTreeSet;

use hortator_check::constraints::{
    Constraint, Finding, ForeignKey, Observer, Scope, Validator, Violation, foreign_keys,
};
use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error};

use super::Verify;
use super::inventory::Inventory;
use super::report::Findings;

/// Most rows that the report on a foreign key lists.
const REPORTED_ROWS_LIMIT: usize = 3;
/// Bytes of a value in the report.
const VALUE_BYTES: usize = 60;

/// Validates the foreign keys of all tables that the stream created or filled, unless the load already did.
pub(super) fn validate(
    verify: &Verify<'_>,
    connection: &mut Connection,
    inventory: &Inventory,
    findings: &mut Findings,
) -> Result<(), Error> {
    if let Some(validated) = verify.validated_foreign_keys {
        findings.foreign_keys = validated;
        return Ok(());
    }
    let relations = verify.expectations.relations().iter();
    let touched = relations.filter(|(name, relation)| {
        inventory.relations.contains_key(*name) && (relation.is_made || verify.loaded.contains_key(&name.to_string()))
    });
    let of: BTreeSet<TableName> = touched.map(|(name, _)| name.clone()).collect();
    let scope = Scope { of, ..Scope::default() };
    let (left_out, keys): (Vec<ForeignKey>, Vec<ForeignKey>) =
        foreign_keys(connection, &scope)?.into_iter().partition(|key| verify.left_out_parents.contains(&key.parent));
    for ForeignKey { name, child, parent, .. } in left_out {
        let name = String::from_utf8_lossy(&name);
        findings.remark(format!("foreign key {name} of {child}: not validated: the load leaves out {parent}"));
    }
    let keys: Vec<Constraint> = keys.into_iter().map(Constraint::ForeignKey).collect();
    let prover = Validator {
        open: &|| verify.open(),
        threads: verify.threads,
        rows_limit: REPORTED_ROWS_LIMIT,
        observer: &NoObserver,
    };
    let violations = prover.validate(&keys)?;
    findings.foreign_keys = (keys.len() - violations.len()) as u64;
    for finding in &violations {
        findings.problem(shown(finding));
    }
    Ok(())
}

fn shown(Finding { constraint, violation: fault }: &Finding) -> String {
    let name = match constraint {
        Constraint::ForeignKey(key) => String::from_utf8_lossy(&key.name),
        Constraint::Unique(key) => String::from_utf8_lossy(&key.name),
    };
    let text = match fault {
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
            format!("{count} rows have no parent row: {}", rows.collect::<Vec<_>>().join(", "))
        }
        Violation::NoParent => "the parent table does not exist".to_owned(),
        Violation::NoParentKey => "the parent table has no key on the referenced columns".to_owned(),
        Violation::NotValidated(refusal) => format!("not validated: {refusal}"),
    };
    format!("foreign key {name} of {}: {text}", constraint.table())
}

/// No observer: an interrupt ends the program.
struct NoObserver;

impl Observer for NoObserver {
    fn runs_on(&self, _prover: usize, _connection_id: u32) {}

    fn is_ended(&self) -> bool {
        false
    }
}
