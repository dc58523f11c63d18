//! Validates every foreign key of the employees tables on every node, also where it is not declared.

use hortator_check::constraints::{Constraint, ForeignKey, Observer, Validator, Violation};
use hortator_mysql::catalog::TableName;

use crate::Error;
use crate::employees::{FOREIGN_KEYS, SCHEMA};
use crate::nodes::Nodes;

/// Connections for each node's queries.
const THREADS: usize = 2;

/// Nobody watches the queries.
struct NoObserver;

impl Observer for NoObserver {
    fn runs_on(&self, _validator: usize, _connection_id: u32) {}

    fn is_ended(&self) -> bool {
        false
    }
}

/// Looks on each node for rows without their parent.
pub(crate) fn check(nodes: &Nodes) -> Result<(), Error> {
    let keys = FOREIGN_KEYS.map(|(child, column, parent)| Constraint::ForeignKey(foreign_key(child, column, parent)));
    for node in 0..nodes.count() {
        let open = || nodes.open(node);
        let validator = Validator { open: &open, threads: THREADS, rows_limit: 1, observer: &NoObserver };
        let findings = validator.validate(&keys).map_err(Error::server("validating the foreign keys"))?;
        if let Some(finding) = findings.first() {
            let Constraint::ForeignKey(key) = &finding.constraint else { continue };
            let column = String::from_utf8_lossy(&key.columns.concat()).into_owned();
            let why = match &finding.violation {
                Violation::Rows { count: 1, .. } => format!("1 row without its parent in {}", key.parent),
                Violation::Rows { count, .. } => format!("{count} rows without their parent in {}", key.parent),
                other => format!("{other:?}"),
            };
            let text = format!("node {}: {} ({column}) has {why}", node + 1, key.child);
            return Err(Error::Answer(text));
        }
    }
    Ok(())
}

fn foreign_key(child: &str, column: &str, parent: &str) -> ForeignKey {
    let table = |name: &str| TableName { schema: SCHEMA.into(), table: name.into() };
    ForeignKey {
        name: column.into(),
        child: table(child),
        columns: vec![column.into()],
        parent: table(parent),
        parent_columns: vec![column.into()],
    }
}
