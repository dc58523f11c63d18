//! The outcome as a page.

use super::experiment::{ATTRIBUTES, CellFactors};
use super::{Contender, Experiment, LockMode, Outcome};
use crate::deployment::{self, Deployment};
use crate::figures::{CORES, LOADER_CPU, RATE, WALL};
use crate::page::{ContenderNote, Line, Mark, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{capitalized, median, median_and_range, thousands};
use crate::resource_usage::cores_used;
use crate::rules::{self, Facts};

const HEADINGS: [&str; 9] = [
    "servers",
    "lock mode",
    "AUTO_INCREMENT",
    "contender",
    "wall s, median (min–max)",
    "rows/s",
    "× client",
    "server cores",
    "loader CPU s",
];
/// Reported rows per second: client, paramy with the attribute, and without.
const REPORTED: [(&str, f64); 3] = [("client, 5.0:", 7_200.0), ("paramy, 5.0:", 8_700.0), ("without, 5.0:", 21_500.0)];

/// A family of contenders that differ in their connections.
struct Family {
    name: &'static str,
    has: fn(Contender) -> bool,
}

const FAMILIES: [Family; 2] = [
    Family { name: "hortator load", has: |contender| matches!(contender, Contender::Load(_)) },
    Family { name: "statements as written", has: |contender| matches!(contender, Contender::Statements(_)) },
];

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let mut page = Page {
        experiment: "auto-increment".to_owned(),
        title: "Parallel inserts and the AUTO-INC lock".to_owned(),
        question: "How fast does a dump load when its statements go over several connections, and does the lock of \
                   AUTO_INCREMENT columns stop it?"
            .to_owned(),
        reported: vec![
            "MySQL 5.0, 13 million rows, hardware not told: client 7,200 rows/s with 1.0 cores busy; the same statements over \
             several connections (paramy) 8,700 rows/s with 1.3 cores; without AUTO_INCREMENT 21,500 rows/s with 3.2 cores."
                .to_owned(),
        ],
        command: command(experiment),
        settings: deployment::settings(),
        contenders: contenders(experiment),
        limits: limits(),
        ..Page::default()
    };
    page.settings.retain(|setting| !setting.starts_with("innodb_autoinc_lock_mode"));
    if let Some((data, index)) = outcome.row_bytes {
        page.settings.push(format!(
            "{} rows of about {data} bytes of data and {index} bytes of secondary indexes (reported table: 123 and 131)",
            thousands(experiment.rows)
        ));
    }
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.answers = answers(experiment, &page);
    page.sections = sections(experiment, &page);
    page
}

fn command(experiment: &Experiment) -> String {
    let connections: Vec<String> =
        loads(experiment).iter().map(|contender| contender.connections().to_string()).collect();
    let modes: Vec<String> = experiment.modes.iter().map(LockMode::to_string).collect();
    format!(
        "hortator bench auto-increment --rows {} --rounds {} --connections {} --only {},{}",
        experiment.rows,
        experiment.extent.rounds,
        connections.join(","),
        modes.join(","),
        experiment.deployments.iter().map(Deployment::to_string).collect::<Vec<_>>().join(",")
    )
}

fn loads(experiment: &Experiment) -> Vec<Contender> {
    experiment.contenders.iter().copied().filter(|contender| matches!(contender, Contender::Load(_))).collect()
}

fn limits() -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut limits = vec![
        "The loader runs on the same machine as the server and uses a part of its cores.".to_owned(),
        "The table is ours: the schema of the report and the rows of its statements are not known.".to_owned(),
    ];
    if cores < 4 {
        limits.push(format!("{cores} cores cannot show the 3.2 busy cores of the report."));
    }
    limits
}

fn contenders(experiment: &Experiment) -> Vec<ContenderNote> {
    let servers = experiment.deployments.iter().map(|deployment| deployment.note());
    let loaders = experiment.contenders.iter().map(|contender| ContenderNote {
        name: contender.to_string(),
        description: contender.description().to_owned(),
        survives: "what its servers promise".to_owned(),
    });
    servers.chain(loaders).collect()
}

fn connections(contender: Contender) -> String {
    match contender.connections() {
        1 => "1 connection".to_owned(),
        connections => format!("{connections} connections"),
    }
}

/// A mode on servers, whose column has the attribute or not.
type Variant = (Deployment, LockMode);

fn factors((deployment, mode): Variant, has_attribute: bool) -> CellFactors {
    CellFactors { deployment, mode, has_attribute }
}

/// Each of them once.
fn variants(experiment: &Experiment) -> Vec<Variant> {
    experiment
        .all_factors()
        .filter(|factors| factors.has_attribute)
        .map(|factors| (factors.deployment, factors.mode))
        .collect()
}

/// The most rows per second of these contenders.
fn fastest(experiment: &Experiment, page: &Page, factors: CellFactors, family: &Family) -> Option<(Contender, f64)> {
    let of_family = experiment.contenders.iter().copied().filter(|contender| (family.has)(*contender));
    let rates = of_family
        .filter_map(|contender| Some((contender, page.spread(&factors.cell(), &contender.to_string(), RATE)?.median)));
    rates.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// What several connections gain over one for statements as they are written, in each lock mode: what the lock stops.
fn verdict(experiment: &Experiment, page: &Page) -> Option<String> {
    let rate = |factors: CellFactors, contender: &Contender| {
        Some(page.spread(&factors.cell(), &contender.to_string(), RATE)?.median)
    };
    let gain = |factors: CellFactors| {
        let one = rate(factors, &Contender::Statements(1))?;
        let several = experiment.contenders.iter().filter(|it| matches!(it, Contender::Statements(2..)));
        Some(several.filter_map(|contender| rate(factors, contender)).reduce(f64::max)? / one)
    };
    let of_mode = |mode: &LockMode| {
        let of = |has_attribute| gain(factors((Deployment::Alone, *mode), has_attribute));
        Some(format!("mode {mode}: {:.2} with AUTO_INCREMENT, {:.2} without", of(true)?, of(false)?))
    };
    let modes: Vec<String> = experiment.modes.iter().filter_map(of_mode).collect();
    (!modes.is_empty() && experiment.deployments.contains(&Deployment::Alone)).then(|| {
        format!(
            "How many times as fast the statements are over several connections as over one, on a server alone, by lock mode: {}. \
             Where the first number is much lower, the lock stops them.",
            modes.join("; ")
        )
    })
}

fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let mut answers: Vec<String> = verdict(experiment, page).into_iter().collect();
    for variant in variants(experiment) {
        for family in &FAMILIES {
            let rate = |has_attribute| fastest(experiment, page, factors(variant, has_attribute), family);
            let client = page.spread(&factors(variant, true).cell(), &Contender::Client.to_string(), RATE);
            let (Some((best, with)), Some((_, without)), Some(client)) = (rate(true), rate(false), client) else {
                continue;
            };
            let (deployment, mode) = variant;
            answers.push(format!(
                "{}, lock mode {mode}: the best of {}, {}, is {:.2} times as fast as the client; without AUTO_INCREMENT, {} is {:.2} \
                 times as fast as with it.",
                capitalized(&deployment.to_string()),
                family.name,
                connections(best),
                with / client.median,
                family.name,
                without / with
            ));
        }
    }
    answers
}

fn sections(experiment: &Experiment, page: &Page) -> Vec<Section> {
    let rows = experiment
        .all_factors()
        .flat_map(|factors| experiment.contenders.iter().map(move |contender| row(page, factors, *contender)));
    let rows = rows.collect();
    let table = Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 4, rows };
    let text = "Mode 0 locks the table until the end of each INSERT into an AUTO_INCREMENT column, mode 1 only if the \
                number of rows is not known beforehand, mode 2 never. \
                Servers with a provider need mode 2.";
    let mut sections = vec![Section {
        title: "All figures".to_owned(),
        text: vec![text.to_owned()],
        tables: vec![table],
        plots: vec![],
    }];
    for family in &FAMILIES {
        let plot = |is_alone, figure, y: &str, marks: &[(&str, f64)]| {
            let lines = lines(experiment, page, family, figure, is_alone);
            let servers = if is_alone { "a server alone" } else { "one node with a provider" };
            (!lines.is_empty()).then(|| Plot {
                title: format!("{} by connections, {servers}: {}", capitalized(y), family.name),
                x: "connections".to_owned(),
                y: y.to_owned(),
                form: PlotForm::Lines { is_log_x: true, lines },
                marks: marks.iter().map(|(label, value)| Mark { label: (*label).to_owned(), value: *value }).collect(),
            })
        };
        let plots = [true, false].into_iter().flat_map(|is_alone| {
            [plot(is_alone, RATE, "rows/s", &REPORTED), plot(is_alone, CORES, "busy server cores", &[])]
        });
        sections.push(Section {
            title: format!("{} over several connections", capitalized(family.name)),
            plots: plots.flatten().collect(),
            ..Section::default()
        });
    }
    sections
}

fn row(page: &Page, factors: CellFactors, contender: Contender) -> Vec<String> {
    let cell = factors.cell();
    let spread = |figure| page.spread(&cell, &contender.to_string(), figure);
    let wall = spread(WALL);
    let client = page.spread(&cell, &Contender::Client.to_string(), WALL);
    let none = || median(None, 0);
    vec![
        factors.deployment.to_string(),
        factors.mode.to_string(),
        if factors.has_attribute { "yes" } else { "no" }.to_owned(),
        contender.to_string(),
        median_and_range(wall, 2),
        spread(RATE).map_or_else(none, |rate| thousands(rate.median as u64)),
        wall.zip(client).map_or_else(none, |(wall, client)| format!("{:.2}", client.median / wall.median)),
        cores_used(spread(CORES)),
        median(spread(LOADER_CPU), 1),
    ]
}

/// A line for each mode with the attribute and without; of a server alone, or of the others.
fn lines(experiment: &Experiment, page: &Page, family: &Family, figure: &str, is_alone: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let shown = variants(experiment).into_iter();
    for (deployment, mode) in shown.filter(|(deployment, _)| (*deployment == Deployment::Alone) == is_alone) {
        for has_attribute in ATTRIBUTES {
            let of_family = experiment.contenders.iter().filter(|contender| (family.has)(**contender));
            let points = of_family.filter_map(|contender| {
                let cell = factors((deployment, mode), has_attribute).cell();
                let y = page.spread(&cell, &contender.to_string(), figure)?;
                Some(Point { x: contender.connections() as f64, y })
            });
            let servers = if deployment == Deployment::Alone { String::new() } else { format!("{deployment}, ") };
            let with = if has_attribute { "with" } else { "without" };
            lines.push(Line { name: format!("{servers}mode {mode}, {with} AUTO_INCREMENT"), points: points.collect() });
        }
    }
    lines
}
