//! One page for several experiments: a link to the report of each, with its summary.

use std::fmt::Write as _;
use std::time::Duration;

use super::html::{document, escape, summary};
use super::{Page, RunResult};

/// Answers of each report; the first ones sum it up.
const ANSWERS: usize = 3;

/// An experiment.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    /// The name of the command, as `fan-in`.
    pub name: String,
    /// Its report, or why there is none.
    pub result: Result<Page, String>,
    /// The address of the report, relative to the index.
    pub link: String,
    /// How long it took.
    pub took: Duration,
}

/// The index as one HTML file.
#[must_use]
pub fn index(entries: &[IndexEntry]) -> String {
    let title = "Benchmarks of hortator";
    let mut body = format!("<h1>{title}</h1>\n");
    if let Some(page) = entries.iter().find_map(|entry| entry.result.as_ref().ok()) {
        let _ = writeln!(body, "<p class=\"soft\">{}, {}</p>", escape(&page.date), escape(&page.machine));
    }
    let took = entries.iter().map(|entry| entry.took).sum();
    let _ = writeln!(body, "<p>{} experiments in {}.</p>", entries.len(), shown(took));
    for entry in entries {
        match &entry.result {
            Ok(page) => report(&mut body, entry, page),
            Err(reason) => {
                let _ = writeln!(
                    body,
                    "<h2>{}</h2>\n<p class=\"warning\">There is no report: {}</p>",
                    escape(&entry.name),
                    escape(reason)
                );
            }
        }
    }
    document(title, &body)
}

fn report(body: &mut String, entry: &IndexEntry, page: &Page) {
    let _ = writeln!(body, "<h2><a href=\"{}\">{}</a></h2>", escape(&entry.link), escape(&page.title));
    let (name, runs) = (escape(&entry.name), page.runs.len());
    let _ = writeln!(body, "<p class=\"soft\">{name}: {runs} runs in {}</p>", shown(entry.took));
    for warning in &page.warnings {
        let _ = writeln!(body, "<p class=\"warning\">{}</p>", escape(warning));
    }
    let reasons = page.runs.iter().filter_map(|run| match &run.result {
        RunResult::Failed(reason) => Some(reason),
        RunResult::Figures(_) => None,
    });
    if let Some(first) = reasons.clone().next() {
        let (failed, reason) = (reasons.count(), escape(first));
        let _ = writeln!(body, "<p class=\"warning\">{failed} of {runs} runs failed, the first of them: {reason}</p>");
    }
    summary(body, page, ANSWERS);
    if page.answers.len() > ANSWERS {
        let more = page.answers.len() - ANSWERS;
        let _ = writeln!(body, "<p><a href=\"{}\">{more} more answers, plots and tables</a></p>", escape(&entry.link));
    }
}

/// Minutes and seconds.
fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Run;

    #[test]
    fn what_failed_stands_there_with_its_reason() {
        let page = Page {
            title: "Many into one".into(),
            question: "How fast?".into(),
            answers: vec!["Fast.".into()],
            runs: vec![Run {
                cell: [("rows".to_owned(), "1".to_owned())].into(),
                contender: "client".into(),
                round: 1,
                result: RunResult::Failed("3 rows < 4".into()),
            }],
            ..Page::default()
        };
        let entry = |name: &str, result| IndexEntry {
            name: name.into(),
            result,
            link: format!("{name}.html"),
            took: Duration::from_secs(61),
        };
        let html = index(&[entry("fan-in", Ok(page)), entry("stress", Err("no <disk>".into()))]);
        for part in [
            "<a href=\"fan-in.html\">Many into one</a>",
            "fan-in: 1 runs in 1 min 1 s",
            "1 of 1 runs failed, the first of them: 3 rows &lt; 4",
            "<dd>Fast.</dd>",
            "There is no report: no &lt;disk&gt;",
            "2 experiments in 2 min 2 s",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
    }
}
