//! The validation at the end of a load: which constraints, and the report on violated ones.

use std::time::Instant;

use hortator_check::constraints::{
    Constraint, Finding, ForeignKey, Observer, Validator, ViolatingRow, Violation, foreign_keys, unique_keys,
};
use hortator_mysql::{Connection, Error};

use super::report::{ReportedRow, Validation, ValidationOutcome, ViolatedConstraint};
use super::rescan::{Found, Wanted, rescan};
use super::{Checks, Deferral};
use crate::apply::Pool;
use crate::cluster::Targets;
use crate::load::Options;

/// Most rows that the report on a violated constraint lists with values and line.
const REPORTED_ROWS_LIMIT: usize = 20;

/// Bytes of a value that a message shows.
const VALUE_BYTES: usize = 60;

/// The validations of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validations {
    pub(crate) foreign_keys: Option<Validation>,
    pub(crate) unique_keys: Option<Validation>,
}

impl Validations {
    /// For a load that did not reach its end.
    pub(crate) fn skipped(deferral: &Deferral) -> Self {
        Self::both(deferral, |_| {
            Validation::without_result(ValidationOutcome::Skipped, "the load did not reach its end")
        })
    }

    fn both(deferral: &Deferral, mut make: impl FnMut(bool) -> Validation) -> Self {
        Self {
            foreign_keys: (deferral.foreign_keys() == Checks::Deferred).then(|| make(true)),
            unique_keys: (deferral.unique_checks() == Checks::Deferred).then(|| make(false)),
        }
    }

    /// Whether a validation failed.
    pub(crate) fn have_failed(&self) -> bool {
        [&self.foreign_keys, &self.unique_keys]
            .into_iter()
            .flatten()
            .any(|validation| validation.outcome == ValidationOutcome::Failed)
    }

    /// Whether all deferred constraints are valid.
    pub(crate) fn are_valid(&self) -> bool {
        [&self.foreign_keys, &self.unique_keys]
            .into_iter()
            .flatten()
            .all(|validation| validation.outcome == ValidationOutcome::Valid)
    }
}

/// Validates the deferred constraints.
pub(crate) fn validate(
    deferral: &Deferral,
    options: &Options,
    targets: &Targets,
    pool: &Pool,
    threads: usize,
) -> Validations {
    Validations::both(deferral, |of_foreign_keys| {
        let start = Instant::now();
        let mut validation = match attempt(deferral, options, targets, pool, threads, of_foreign_keys) {
            Ok(_) if pool.is_interrupted() => Validation::without_result(ValidationOutcome::Failed, "interrupted"),
            Ok(validation) => validation,
            Err(error) => Validation::without_result(ValidationOutcome::Failed, error.to_string()),
        };
        validation.elapsed_s = start.elapsed().as_secs_f64();
        validation
    })
}

fn attempt(
    deferral: &Deferral,
    options: &Options,
    targets: &Targets,
    pool: &Pool,
    threads: usize,
    of_foreign_keys: bool,
) -> Result<Validation, Error> {
    let affected_tables = deferral.affected_tables();
    let mut connection = open(targets, pool)?;
    let constraints: Vec<Constraint> = if of_foreign_keys {
        foreign_keys(&mut connection, &affected_tables.foreign_keys())?
            .into_iter()
            .map(Constraint::ForeignKey)
            .collect()
    } else {
        unique_keys(&mut connection, &affected_tables.unique_keys())?.into_iter().map(Constraint::Unique).collect()
    };
    let watch = PoolObserver(pool);
    let prover =
        Validator { open: &|| open(targets, pool), threads, rows_limit: REPORTED_ROWS_LIMIT, observer: &watch };
    let findings = prover.validate(&constraints)?;
    let outcome = if findings.is_empty() { ValidationOutcome::Valid } else { ValidationOutcome::Violated };
    let violations = if findings.is_empty() || pool.is_interrupted() {
        Vec::new()
    } else {
        let wanted = findings.iter().enumerate().flat_map(wanted).collect();
        let mut found = rescan(wanted, options, targets, pool).into_iter();
        findings.iter().map(|finding| violated_constraint(finding, &mut found)).collect()
    };
    Ok(Validation { outcome, reason: String::new(), constraints: constraints.len(), elapsed_s: 0.0, violations })
}

/// Session settings for long queries that see, on a cluster, the rows loaded through another node. A server may not know
/// all of them.
const SESSION_SETTINGS: [&[u8]; 3] =
    [b"SET SESSION max_statement_time = 0", b"SET SESSION max_execution_time = 0", b"SET SESSION wsrep_sync_wait = 1"];

fn open(targets: &Targets, pool: &Pool) -> Result<Connection, Error> {
    let mut connection = targets.connect_internal(&|| pool.is_interrupted())?.connection;
    for setting in SESSION_SETTINGS {
        match connection.execute(setting) {
            Ok(_) | Err(Error::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(connection)
}

struct PoolObserver<'a>(&'a Pool);

impl Observer for PoolObserver<'_> {
    fn runs_on(&self, prover: usize, connection_id: u32) {
        self.0.runs_on(prover, connection_id);
    }

    fn is_ended(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// The rows to look for in the dump: the reported rows of each finding.
fn wanted((number, finding): (usize, &Finding)) -> Vec<Wanted> {
    let table = finding.constraint.table();
    reported_rows(finding).map(|row| Wanted { finding: number, table: table.clone(), row: row.clone() }).collect()
}

/// The reported rows of a finding: rows with the same value follow each other.
fn reported_rows(finding: &Finding) -> impl Iterator<Item = &ViolatingRow> {
    let first = match &finding.violation {
        Violation::Rows { first, .. } => first.as_slice(),
        _ => &[],
    };
    first
        .iter()
        .flat_map(|row| std::iter::repeat_n(row, usize::try_from(row.rows).unwrap_or(1)))
        .take(REPORTED_ROWS_LIMIT)
}

/// The report on a finding; `found` has the positions of its rows.
fn violated_constraint(finding: &Finding, found: &mut impl Iterator<Item = Found>) -> ViolatedConstraint {
    let (name, message, rows) = match (&finding.constraint, &finding.violation) {
        (Constraint::ForeignKey(key), fault) => (&key.name, foreign_key_message(key, fault), fault_rows(fault)),
        (Constraint::Unique(key), fault) => {
            let message = match fault {
                Violation::NotValidated(why) => format!("unique key not validated: {why}"),
                _ => format!("{} row(s) have duplicate values in a unique key", fault_rows(fault)),
            };
            (&key.name, message, fault_rows(fault))
        }
    };
    ViolatedConstraint {
        table: finding.constraint.table().to_string(),
        constraint: String::from_utf8_lossy(name).into_owned(),
        message,
        rows,
        first: reported_rows(finding).zip(found).map(|(row, found)| reported_row(row, found)).collect(),
    }
}

fn fault_rows(fault: &Violation) -> u64 {
    match fault {
        Violation::Rows { count, .. } => *count,
        Violation::NoParent | Violation::NoParentKey | Violation::NotValidated(_) => 0,
    }
}

fn foreign_key_message(key: &ForeignKey, fault: &Violation) -> String {
    let reference = format!("{} ({})", key.parent, names(&key.parent_columns));
    match fault {
        Violation::Rows { count, .. } => {
            format!("{count} row(s) have no parent row: ({}) is not in {reference}", names(&key.columns))
        }
        Violation::NoParent => {
            format!("({}) refers to {reference}, but the parent table does not exist", names(&key.columns))
        }
        Violation::NoParentKey => format!(
            "({}) refers to {reference}, but the parent table has no key that starts with these columns",
            names(&key.columns)
        ),
        Violation::NotValidated(why) => {
            format!("foreign key ({}) to {reference} not validated: {why}", names(&key.columns))
        }
    }
}

fn names(columns: &[Vec<u8>]) -> String {
    columns.iter().map(|name| String::from_utf8_lossy(name)).collect::<Vec<_>>().join(", ")
}

fn reported_row(row: &ViolatingRow, found: Found) -> ReportedRow {
    let values = row.values.iter().map(|(name, value)| {
        let name = String::from_utf8_lossy(name);
        match value {
            Some(value) => format!("{name} = {}", shown(value)),
            None => format!("{name} IS NULL"),
        }
    });
    ReportedRow {
        row: values.collect::<Vec<_>>().join(", "),
        file: found.file,
        line: found.line,
        byte: found.byte,
        reason: found.reason,
    }
}

/// A value for a message: a text, or digits of its bytes where they are none.
fn shown(value: &[u8]) -> String {
    let head = &value[..value.len().min(VALUE_BYTES)];
    let more = if head.len() < value.len() { "…" } else { "" };
    match std::str::from_utf8(value) {
        Ok(text) if !text.chars().any(char::is_control) => {
            format!("{}{more}", text.chars().take(VALUE_BYTES).collect::<String>())
        }
        _ => {
            let digits: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x{digits}{more}")
        }
    }
}
