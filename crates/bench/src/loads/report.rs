//! The outcome as a page.

use super::{Compared, Contender, Experiment, Outcome, Target};
use crate::figures::{ALL, CORES, FLOW_CONTROL, LOADER_CPU, LOADER_PEAK, RATE, SERVER_CPU, WALL};
use crate::nodes::CLUSTER_SETTINGS;
use crate::page::{BarGroup, ContenderNote, Page, Plot, PlotForm, Section, Table};
use crate::report::{Spread, capitalized, median, median_and_range, thousands};
use crate::resource_usage::cores_used;
use crate::rules::{self, Facts};
use crate::server::SETTINGS;

const SURVIVES: &str = "a crash of the server and a power cut: innodb_flush_log_at_trx_commit=1, no binary log";

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let (name, title, question) = match experiment.target {
        Target::Server { .. } => (
            "employees",
            "Loading an employees-shaped dump",
            "How long does a dump of the employees sample take to load, with the client and with hortator load?",
        ),
        Target::Cluster(_) => (
            "load",
            "Loading an employees-shaped dump into a Galera cluster",
            "How long does a dump of the employees sample take until all nodes of a cluster have it, with the client and with \
             hortator load?",
        ),
    };
    let page = Page {
        experiment: name.to_owned(),
        title: title.to_owned(),
        question: question.to_owned(),
        command: command(experiment, name),
        settings: settings(experiment, outcome),
        contenders: outcome.contenders.iter().map(|contender| note(*contender)).collect(),
        limits: limits(experiment),
        ..Page::default()
    };
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.answers = answers(experiment, outcome, &page);
    page.sections = vec![section(experiment, outcome, &page)];
    page
}

fn command(experiment: &Experiment, name: &str) -> String {
    let (rounds, scale) = (experiment.extent.rounds, experiment.scale);
    let (nodes, extra) = match experiment.target {
        Target::Server { .. } => (String::new(), ""),
        Target::Cluster(nodes) => (format!(" --nodes {nodes}"), " --galera"),
    };
    format!("hortator bench {name}{extra}{nodes} --rounds {rounds} --scale {scale}")
}

fn settings(experiment: &Experiment, outcome: &Outcome) -> Vec<String> {
    let mut settings: Vec<String> = SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if matches!(experiment.target, Target::Cluster(_)) {
        settings.extend(CLUSTER_SETTINGS.iter().map(|(name, value)| format!("{name}={value} on the cluster")));
    }
    if let Some(dump) = &outcome.dump {
        let (rows, bytes) = (thousands(dump.rows), thousands(dump.bytes));
        settings.push(format!("{rows} rows, {bytes} bytes, checksum {:032x}", dump.checksum));
    }
    settings
}

fn note(contender: Contender) -> ContenderNote {
    ContenderNote {
        name: contender.to_string(),
        description: contender.description().to_owned(),
        survives: SURVIVES.to_owned(),
    }
}

fn limits(experiment: &Experiment) -> Vec<String> {
    let mut limits = vec!["The program that loads runs on the same machine and uses a part of its cores.".to_owned()];
    if let Target::Cluster(nodes) = experiment.target {
        limits.push(format!("All nodes share this machine: its cores apply each row {nodes} times."));
    }
    limits
}

/// The speed of a contender relative to the client's, by the medians.
fn ratio(experiment: &Experiment, page: &Page, contender: Contender) -> Option<f64> {
    if contender == Contender::Single {
        return None;
    }
    let wall = |contender: Contender| page.spread(&experiment.cell(), &contender.to_string(), ALL);
    Some(wall(Contender::Client)?.median / wall(contender)?.median)
}

fn answers(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<String> {
    let spread = |contender: Contender| page.spread(&experiment.cell(), &contender.to_string(), ALL);
    let line = |contender: &Contender| {
        let ratio = ratio(experiment, page, *contender).filter(|_| *contender != Contender::Client)?;
        let (own, client) = (spread(*contender)?.median, spread(Contender::Client)?.median);
        let judgement = if ratio >= 1.0 { "times as fast as" } else { "times as fast, so slower, as" };
        let name = capitalized(&contender.to_string());
        Some(format!("{name} is {ratio:.2} {judgement} the client ({own:.2} s and {client:.2} s)."))
    };
    let mut answers: Vec<String> = outcome.contenders.iter().filter_map(line).collect();
    if let Some(Compared { rows, definitions }) = outcome.compared.filter(|_| !page.has_failures()) {
        let nodes = match experiment.target {
            Target::Server { .. } => String::new(),
            Target::Cluster(nodes) => format!(" on each of {nodes} nodes"),
        };
        answers.push(format!(
            "All contenders left the same state: {definitions} definitions and {} rows are equal{nodes}.",
            thousands(rows)
        ));
    }
    answers
}

/// A column of the table.
struct Column {
    heading: &'static str,
    is_of_cluster: bool,
    cell: fn(&Experiment, &Page, Contender) -> String,
}

fn spread(experiment: &Experiment, page: &Page, contender: Contender, figure: &str) -> Option<Spread> {
    page.spread(&experiment.cell(), &contender.to_string(), figure)
}

/// Those of a server, and those that only a cluster has.
const COLUMNS: [Column; 10] = [
    Column {
        heading: "wall s, median (min–max)",
        is_of_cluster: false,
        cell: |experiment, page, contender| median_and_range(spread(experiment, page, contender, ALL), 2),
    },
    Column {
        heading: "× client",
        is_of_cluster: false,
        cell: |experiment, page, contender| {
            ratio(experiment, page, contender).map_or_else(|| median(None, 0), |ratio| format!("{ratio:.2}"))
        },
    },
    Column {
        heading: "program s",
        is_of_cluster: true,
        cell: |experiment, page, contender| median(spread(experiment, page, contender, WALL), 2),
    },
    Column {
        heading: "rows/s",
        is_of_cluster: false,
        cell: |experiment, page, contender| {
            let rate = spread(experiment, page, contender, RATE);
            rate.map_or_else(|| median(None, 0), |rate| thousands(rate.median as u64))
        },
    },
    Column {
        heading: "loader peak MiB",
        is_of_cluster: false,
        cell: |experiment, page, contender| {
            let peak = spread(experiment, page, contender, LOADER_PEAK);
            // The most of all runs: this much memory is necessary.
            peak.map_or_else(|| median(None, 0), |peak| format!("{:.0}", peak.most))
        },
    },
    Column {
        heading: "loader CPU s",
        is_of_cluster: false,
        cell: |experiment, page, contender| median(spread(experiment, page, contender, LOADER_CPU), 1),
    },
    Column {
        heading: "server CPU s",
        is_of_cluster: false,
        cell: |experiment, page, contender| median(spread(experiment, page, contender, SERVER_CPU), 1),
    },
    Column {
        heading: "cores",
        is_of_cluster: false,
        cell: |experiment, page, contender| cores_used(spread(experiment, page, contender, CORES)),
    },
    Column { heading: "× work of single servers", is_of_cluster: true, cell: work_of_single_servers },
    Column {
        heading: "flow control s",
        is_of_cluster: true,
        cell: |experiment, page, contender| median(spread(experiment, page, contender, FLOW_CONTROL), 2),
    },
];

/// The CPU time of all nodes divided by that of as many single servers.
fn work_of_single_servers(experiment: &Experiment, page: &Page, contender: Contender) -> String {
    let Target::Cluster(nodes) = experiment.target else { return median(None, 0) };
    let cpu = |contender| spread(experiment, page, contender, SERVER_CPU);
    let (Some(own), Some(single)) = (cpu(contender), cpu(Contender::Single)) else { return median(None, 0) };
    match contender {
        Contender::Single => median(None, 0),
        _ => format!("{:.2}", own.median / (single.median * nodes as f64)),
    }
}

fn section(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Section {
    let is_cluster = matches!(experiment.target, Target::Cluster(_));
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| is_cluster || !column.is_of_cluster).collect();
    let mut headings = vec!["contender".to_owned()];
    headings.extend(columns.iter().map(|column| column.heading.to_owned()));
    let row = |contender: &Contender| {
        let mut row = vec![contender.to_string()];
        row.extend(columns.iter().map(|column| (column.cell)(experiment, page, *contender)));
        row
    };
    let bar = |contender: &Contender| (contender.to_string(), spread(experiment, page, *contender, ALL));
    let bars = BarGroup { name: experiment.target.to_string(), bars: outcome.contenders.iter().map(bar).collect() };
    Section {
        title: "Loads".to_owned(),
        text: vec![
            "Each run goes into an empty schema on warmed-up servers at rest, until all nodes have all rows; rounds interleave the \
             contenders. \"× client\" is the speed relative to the client, by the medians."
                .to_owned(),
        ],
        tables: vec![Table { headings, text_columns: 1, rows: outcome.contenders.iter().map(row).collect() }],
        plots: vec![Plot {
            title: "Seconds of a load (less is better)".to_owned(),
            x: "seconds".to_owned(),
            y: String::new(),
            form: PlotForm::Bars(vec![bars]),
            marks: Vec::new(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::employees::Dump;
    use crate::extent::Extent;
    use crate::figures::{OTHER_CPU, named};
    use crate::page::{Run, RunResult};
    use crate::rounds::Measured;

    fn example(target: Target, contenders: &[Contender], walls: &[(Contender, usize, f64)]) -> Page {
        let experiment = Experiment {
            target,
            contenders: contenders.to_vec(),
            scale: 1.0,
            threads: None,
            extent: Extent::new(3, ""),
            hortator: PathBuf::new(),
        };
        let run = |(contender, round, wall_s): &(Contender, usize, f64)| {
            let mut figures = named([(ALL, *wall_s), (WALL, *wall_s), (OTHER_CPU, 0.0), (RATE, 9_000.0 / wall_s)]);
            figures.insert(SERVER_CPU.to_owned(), wall_s / 2.0);
            if *contender != Contender::ServerCopy {
                figures.extend(named([(LOADER_CPU, 0.5), (LOADER_PEAK, 8.0)]));
            }
            let (cell, contender) = (experiment.cell(), contender.to_string());
            Run { cell, contender, round: *round, result: RunResult::Figures(figures) }
        };
        let outcome = Outcome {
            measured: Measured { runs: walls.iter().map(run).collect(), unfinished: None },
            versions: vec!["server 1".to_owned()],
            contenders: contenders.to_vec(),
            left_out: Vec::new(),
            dump: Some(Dump { folder: PathBuf::new(), rows: 9_000, bytes: 1_234_567, checksum: 7 }),
            compared: Some(Compared { rows: 9_000, definitions: 9 }),
        };
        page(&experiment, &outcome)
    }

    #[test]
    fn a_line_gives_medians_and_the_ratio_to_the_client() {
        let walls = [
            (Contender::Client, 1, 9.0),
            (Contender::Load, 1, 3.0),
            (Contender::ServerCopy, 1, 2.0),
            (Contender::Client, 2, 11.0),
            (Contender::Client, 3, 9.0),
        ];
        let contenders = [Contender::Client, Contender::Load, Contender::ServerCopy];
        let page = example(Target::Server { is_kept: false }, &contenders, &walls);
        let rows: Vec<String> = page.sections[0].tables[0].rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "mariadb client | 9.00 (9.00–11.00) | 1.00 | 1,000 | 8 | 0.5 | 4.5 | —",
                "hortator load | 3.00 | 3.00 | 3,000 | 8 | 0.5 | 1.5 | —",
                "server's own copy | 2.00 | 4.50 | 4,500 | — | — | 1.0 | —",
            ]
        );
        let text = page.terminal();
        assert!(text.contains("left the same state: 9 definitions and 9,000 rows are equal"), "{text}");
        assert!(text.contains("Hortator load is 3.00 times as fast as the client (3.00 s and 9.00 s)"), "{text}");
    }

    #[test]
    fn a_cluster_is_compared_with_as_many_single_servers() {
        let walls = [(Contender::Client, 1, 9.0), (Contender::Single, 1, 2.0)];
        let page = example(Target::Cluster(3), &[Contender::Client, Contender::Single], &walls);
        let table = &page.sections[0].tables[0];
        let column = table.headings.iter().position(|heading| heading == "× work of single servers").unwrap();
        assert_eq!([&table.rows[0][column], &table.rows[1][column]], ["1.50", "—"]);
    }
}
