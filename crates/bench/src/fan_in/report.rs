//! The outcome as text.

use std::time::SystemTime;

use super::{Contender, Outcome, Run, Workload};
use crate::report::{Spread, date, machine, markdown_table, plain_table};

const HEADINGS: [&str; 7] = [
    "backlog",
    "contender",
    "wall s, median (min–max)",
    "× best rival",
    "target CPU s",
    "agent CPU s",
    "agent peak MiB",
];

/// The figures of one contender with one backlog.
struct Line {
    workload: Workload,
    contender: Contender,
    wall: Spread,
    target_cpu_s: f64,
    agent_cpu_s: Option<f64>,
    agent_peak_bytes: Option<u64>,
}

fn lines(outcome: &Outcome) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for run in &outcome.runs {
        if lines.iter().any(|line| line.workload == run.workload && line.contender == run.contender) {
            continue;
        }
        let same =
            || outcome.runs.iter().filter(|other| other.workload == run.workload && other.contender == run.contender);
        let agents = || same().filter_map(|run| run.agent);
        let Some(wall) = Spread::of(same().map(|run| run.wall)) else { continue };
        let Some(target_cpu) = Spread::of(same().map(|run: &Run| run.target_cpu)) else { continue };
        lines.push(Line {
            workload: run.workload,
            contender: run.contender,
            wall,
            target_cpu_s: target_cpu.median,
            agent_cpu_s: Spread::of(agents().map(|agent| agent.cpu)).map(|spread| spread.median),
            agent_peak_bytes: agents().map(|agent| agent.peak_bytes).max(),
        });
    }
    lines
}

/// The shortest median of the others with a backlog.
fn best_rival(lines: &[Line], workload: Workload) -> Option<f64> {
    let rivals = lines.iter().filter(|line| line.workload == workload && line.contender.is_rival());
    rivals.map(|line| line.wall.median).min_by(f64::total_cmp)
}

fn cells(lines: &[Line], line: &Line) -> [String; 7] {
    let none = || "—".to_owned();
    let Spread { median, least, most } = line.wall;
    [
        line.workload.name().to_owned(),
        line.contender.to_string(),
        format!("{median:.2} ({least:.2}–{most:.2})"),
        best_rival(lines, line.workload).map_or_else(none, |best| format!("{:.2}", best / median)),
        format!("{:.1}", line.target_cpu_s),
        line.agent_cpu_s.map_or_else(none, |cpu| format!("{cpu:.1}")),
        line.agent_peak_bytes.map_or_else(none, |bytes| (bytes >> 20).to_string()),
    ]
}

/// The table for a terminal.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    let lines = lines(outcome);
    plain_table(&HEADINGS, 2, lines.iter().map(|line| cells(&lines, line)))
}

/// A page of Markdown.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let lines = lines(outcome);
    let rows = markdown_table(&HEADINGS, 2, lines.iter().map(|line| cells(&lines, line)));
    let is_of_files = outcome.runs.iter().any(|run| Contender::OF_FILES.contains(&run.contender));
    let (title, command) = match is_of_files {
        true => ("Point-in-time recovery from binary log files".to_owned(), "recovery".to_owned()),
        false => (
            format!("Replication of {} sources into one target", outcome.sources),
            format!("fan-in --sources {}", outcome.sources),
        ),
    };
    format!(
        "# {title}\n\n\
         `hortator bench {command}`, {}, {}, {}. {} transactions of all sources together; `large` is one \
         transaction of each source. Each run drains the same backlog into a new target with \
         innodb_flush_log_at_trx_commit=1, and leaves the sources' rows (CHECKSUM TABLE).\n\n{rows}",
        date(SystemTime::now()),
        machine(),
        outcome.version,
        outcome.transactions,
    )
}
