//! The proof at a load's end: which constraints, over how many connections, and what is told of those that do not hold.

use std::time::Instant;

use hortator_check::constraints::{
    Constraint, Finding, ForeignKey, Observer, Validator, ViolatingRow, Violation, foreign_keys, unique_keys,
};
use hortator_mysql::{Connection, Error};

use super::report::{Broken, BrokenRow, Proof, ProofOutcome};
use super::rescan::{Found, Wanted, rescan};
use super::{Checks, Deferral};
use crate::apply::Pool;
use crate::cluster::Targets;
use crate::load::Options;

/// Rows that are told with values and line, of each constraint that does not hold.
const ROWS_TOLD: usize = 20;

/// Bytes of a value that a message shows.
const VALUE_BYTES: usize = 60;

/// The proofs of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proofs {
    pub(crate) foreign_keys: Option<Proof>,
    pub(crate) unique_keys: Option<Proof>,
}

impl Proofs {
    /// Before the load has come to its end.
    pub(crate) fn not_made(deferral: &Deferral) -> Self {
        Self::both(deferral, |_| Proof::without_result(ProofOutcome::NotMade, "the load did not come to its end"))
    }

    fn both(deferral: &Deferral, mut make: impl FnMut(bool) -> Proof) -> Self {
        Self {
            foreign_keys: (deferral.foreign_keys() == Checks::Deferred).then(|| make(true)),
            unique_keys: (deferral.unique_checks() == Checks::Deferred).then(|| make(false)),
        }
    }

    /// Whether a proof was begun and not ended.
    pub(crate) fn have_failed(&self) -> bool {
        [&self.foreign_keys, &self.unique_keys].into_iter().flatten().any(|proof| proof.outcome == ProofOutcome::Failed)
    }

    /// Whether all that was put off is known to hold.
    pub(crate) fn hold(&self) -> bool {
        [&self.foreign_keys, &self.unique_keys].into_iter().flatten().all(|proof| proof.outcome == ProofOutcome::Holds)
    }
}

/// Proves what was put off.
pub(crate) fn prove(deferral: &Deferral, options: &Options, targets: &Targets, pool: &Pool, threads: usize) -> Proofs {
    Proofs::both(deferral, |of_foreign_keys| {
        let start = Instant::now();
        let mut proof = match attempt(deferral, options, targets, pool, threads, of_foreign_keys) {
            Ok(_) if pool.is_interrupted() => Proof::without_result(ProofOutcome::Failed, "it was interrupted"),
            Ok(proof) => proof,
            Err(error) => Proof::without_result(ProofOutcome::Failed, error.to_string()),
        };
        proof.elapsed_s = start.elapsed().as_secs_f64();
        proof
    })
}

fn attempt(
    deferral: &Deferral,
    options: &Options,
    targets: &Targets,
    pool: &Pool,
    threads: usize,
    of_foreign_keys: bool,
) -> Result<Proof, Error> {
    let touched = deferral.touched();
    let mut connection = open(targets, pool)?;
    let constraints: Vec<Constraint> = if of_foreign_keys {
        foreign_keys(&mut connection, &touched.foreign_keys())?.into_iter().map(Constraint::ForeignKey).collect()
    } else {
        unique_keys(&mut connection, &touched.unique_keys())?.into_iter().map(Constraint::Unique).collect()
    };
    let watch = PoolWatch(pool);
    let prover = Validator { open: &|| open(targets, pool), threads, rows_limit: ROWS_TOLD, observer: &watch };
    let findings = prover.validate(&constraints)?;
    let outcome = if findings.is_empty() { ProofOutcome::Holds } else { ProofOutcome::Broken };
    let broken = if findings.is_empty() || pool.is_interrupted() {
        Vec::new()
    } else {
        let wanted = findings.iter().enumerate().flat_map(wanted).collect();
        let mut found = rescan(wanted, options, targets, pool).into_iter();
        findings.iter().map(|finding| broken(finding, &mut found)).collect()
    };
    Ok(Proof { outcome, because: String::new(), constraints: constraints.len(), elapsed_s: 0.0, broken })
}

/// What a connection needs to ask for as long as it takes, and on a cluster for all that was loaded over another node. Not
/// known to every server: then no query is ended for its length, or the refusal tells so.
const ASKING: [&[u8]; 3] =
    [b"SET SESSION max_statement_time = 0", b"SET SESSION max_execution_time = 0", b"SET SESSION wsrep_sync_wait = 1"];

fn open(targets: &Targets, pool: &Pool) -> Result<Connection, Error> {
    let mut connection = targets.connect_apart(&|| pool.is_interrupted())?.connection;
    for setting in ASKING {
        match connection.execute(setting) {
            Ok(_) | Err(Error::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(connection)
}

struct PoolWatch<'a>(&'a Pool);

impl Observer for PoolWatch<'_> {
    fn runs_on(&self, prover: usize, connection_id: u32) {
        self.0.runs_on(prover, connection_id);
    }

    fn is_ended(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// The rows to look for in the dump: as many of each finding as are told.
fn wanted((number, finding): (usize, &Finding)) -> Vec<Wanted> {
    let table = finding.constraint.table();
    told(finding).map(|row| Wanted { finding: number, table: table.clone(), row: row.clone() }).collect()
}

/// The rows of a finding that are told: those that share a value, one after the other.
fn told(finding: &Finding) -> impl Iterator<Item = &ViolatingRow> {
    let first = match &finding.violation {
        Violation::Rows { first, .. } => first.as_slice(),
        _ => &[],
    };
    first.iter().flat_map(|row| std::iter::repeat_n(row, usize::try_from(row.rows).unwrap_or(1))).take(ROWS_TOLD)
}

/// A finding in words; `found` gives the places of its rows.
fn broken(finding: &Finding, found: &mut impl Iterator<Item = Found>) -> Broken {
    let (name, message, rows) = match (&finding.constraint, &finding.violation) {
        (Constraint::ForeignKey(key), fault) => (&key.name, foreign_key_message(key, fault), fault_rows(fault)),
        (Constraint::Unique(key), fault) => {
            let message = match fault {
                Violation::NotValidated(why) => format!("its unique key cannot be proven: {why}"),
                _ => format!("{} row(s) share their values of a unique key with others", fault_rows(fault)),
            };
            (&key.name, message, fault_rows(fault))
        }
    };
    Broken {
        table: finding.constraint.table().to_string(),
        constraint: String::from_utf8_lossy(name).into_owned(),
        message,
        rows,
        first: told(finding).zip(found).map(|(row, found)| broken_row(row, found)).collect(),
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
            format!("{count} row(s) whose ({}) is not in {reference}", names(&key.columns))
        }
        Violation::NoParent => {
            format!("its ({}) refers to {reference}, and there is no such table", names(&key.columns))
        }
        Violation::NoParentKey => format!(
            "its ({}) refers to {reference}, and that table has no key which begins with these columns",
            names(&key.columns)
        ),
        Violation::NotValidated(why) => {
            format!("that its ({}) is in {reference} cannot be proven: {why}", names(&key.columns))
        }
    }
}

fn names(columns: &[Vec<u8>]) -> String {
    columns.iter().map(|name| String::from_utf8_lossy(name)).collect::<Vec<_>>().join(", ")
}

fn broken_row(row: &ViolatingRow, found: Found) -> BrokenRow {
    let values = row.values.iter().map(|(name, value)| {
        let name = String::from_utf8_lossy(name);
        match value {
            Some(value) => format!("{name} = {}", shown(value)),
            None => format!("{name} IS NULL"),
        }
    });
    BrokenRow {
        row: values.collect::<Vec<_>>().join(", "),
        file: found.file,
        line: found.line,
        byte: found.byte,
        because: found.because,
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
