//! The figures of a run, as a table for comparing two providers.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Provider;
use super::isolation::{self, Anomaly, Level, Transaction};
use super::journal::Journal;
use super::nemesis::Done;
use super::session::Outcome;
use super::verdict::Found;
use super::work::Shared;

pub struct Figures(Vec<(&'static str, String)>);

impl Figures {
    pub fn new(journals: &[Journal], done: &Done, shared: &Shared, found: &Found, took: Duration) -> Figures {
        let count = |outcome| journals.iter().map(|journal| journal.count(outcome)).sum::<usize>();
        let pace = shared.pace();
        let mut errors: BTreeMap<&str, usize> = BTreeMap::new();
        for (error, count) in journals.iter().flat_map(|journal| &journal.errors) {
            *errors.entry(error).or_insert(0) += count;
        }
        let errors: Vec<String> = errors.into_iter().map(|(error, count)| format!("{count} × {error}")).collect();
        let mut returns: Vec<f64> = done.returns.iter().map(Duration::as_secs_f64).collect();
        returns.sort_by(f64::total_cmp);
        let middle = returns.get(returns.len() / 2).copied().unwrap_or_default();
        let last = returns.last().copied().unwrap_or_default();
        let reads = |counter: &std::sync::atomic::AtomicUsize| counter.load(Ordering::SeqCst).to_string();
        Figures(vec![
            ("seconds under fire", took.as_secs().to_string()),
            ("faults", done.faults()),
            ("pages not synced at a power loss, and of these lost", {
                format!("{}, {}", done.lost.pages, done.lost.lost_pages)
            }),
            ("times that no node was left", done.full_crashes.to_string()),
            ("times that it did not come back by itself", done.helped.to_string()),
            ("nodes restarted for an SST: no log held what they lacked", done.restarted.to_string()),
            ("nodes that did not recover otherwise, and that were emptied", done.emptied.to_string()),
            ("transactions confirmed", count(Outcome::Confirmed).to_string()),
            ("confirmed and lost", found.lost.len().to_string()),
            ("refused", count(Outcome::Refused).to_string()),
            ("refused, and there all the same", found.unwanted.len().to_string()),
            ("not known to the client, and of these there", {
                format!("{}, {}", count(Outcome::Unknown), found.unknown_there)
            }),
            ("what clients were told", errors.join("; ")),
            ("rows that differ between nodes", found.differences.len().to_string()),
            ("rules broken (total, accounts, lists)", found.broken_rules.len().to_string()),
            ("list elements out of the order of their confirmation", found.disordered.len().to_string()),
            ("reads in transactions", reads(&shared.reads)),
            ("snapshots of another total, gone when read again", reads(&shared.torn_snapshots)),
            ("reads of another total, twice", reads(&shared.wrong_totals)),
            ("causal reads that saw less than was confirmed", reads(&shared.stale_reads)),
            ("reads without wsrep_sync_wait, and of these that saw less", {
                format!("{}, {}", reads(&shared.plain_reads), reads(&shared.stale_plain_reads))
            }),
            ("reads of what is not there in the end", found.vanished.to_string()),
            ("servers that crashed by themselves", (found.crashes.len() + found.crashes_by_damage.len()).to_string()),
            ("seconds without a confirmed write", pace.empty_seconds().to_string()),
            ("longest time without one, s", format!("{:.1}", pace.longest_stall().as_secs_f64())),
            ("seconds until all nodes are back, half / all within", format!("{middle:.1} / {last:.1}")),
        ])
    }

    /// The anomalies of the histories: those that no level allows, and the one that MariaDB's levels allow, by level.
    pub fn add_anomalies(&mut self, history: &[Transaction], found: &isolation::Found) {
        let count = |anomaly| Level::ALL.map(|level| found.count(anomaly, level)).iter().sum::<usize>();
        let forbidden: Vec<String> = Anomaly::ALL
            .into_iter()
            .filter(|anomaly| *anomaly != Anomaly::GSingle)
            .map(|anomaly| format!("{} {}", count(anomaly), anomaly.name()))
            .collect();
        let confirmed = history.iter().filter(|one| one.outcome == Outcome::Confirmed).count();
        self.0.push(("transactions with a history, and of these confirmed", format!("{}, {confirmed}", history.len())));
        self.0.push(("anomalies that no isolation level allows", forbidden.join("; ")));
        let allowed = Level::ALL.map(|level| format!("{} {}", found.count(Anomaly::GSingle, level), level.name()));
        self.0.push(("G-single (SERIALIZABLE forbids it), by level", allowed.join("; ")));
    }

    /// The table in Markdown.
    pub fn table(&self, provider: Provider) -> String {
        let name = if provider == Provider::Ours { "Hortator" } else { "Galera" };
        let mut text = format!("| | {name} |\n|---|---:|\n");
        self.0.iter().for_each(|(what, value)| text.push_str(&format!("| {what} | {value} |\n")));
        text
    }

    /// Writes the figures for a table of several runs: one per line, its name before the first `|`.
    pub fn save(&self) {
        if let Some(path) = env::var_os("HORTATOR_FIGURES") {
            let lines: String = self.0.iter().map(|(what, value)| format!("{what}|{value}\n")).collect();
            fs::write(path, lines).unwrap();
        }
    }
}
