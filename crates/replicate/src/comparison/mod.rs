//! Compares sources with the target while they are applied and written to: each at one place of its log.
//!
//! ```text
//!   listing     the tables of each source and of the target, with what tells that a definition has changed
//!      │
//!   pairing     tables and rules ──► which rows of the target are those of which tables; what cannot be compared, and why
//!      │                                                                                              pure
//!   freeze      source: a consistent snapshot with its GTID position
//!      │        agent: goes on up to that position, and waits there
//!      │        target: a consistent snapshot that has exactly this position on record; the agent goes on at once
//!      ▼
//!   the rows of both snapshots, table by table (hortator_check)
//!      │
//!   report      differences; what was not compared
//! ```
//!
//! Sources are frozen one by one, and together only where rows of several are in one table of the target that does not tell
//! whose they are. What proves that two snapshots belong together is the position on record in that of the target: whatever
//! the agent does meanwhile, the worst is that they are not found.

mod freeze;
mod holder;
mod listing;
mod outcome;
mod pairing;
mod report;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hortator_check::compare::{Progress, View, compare_views, open_session};
use hortator_mysql::{ConnectOptions, Connection};

use crate::agent::{AgentOptions, SourceOptions, SourceStatus};
use crate::control::{Answer, Request, ask};
use crate::query::{first_value, texts};
use crate::snapshot::missing_rights;
use listing::Listing;
use outcome::{Outcomes, SourceSide, TargetSide};
use pairing::{Configured, Pairing, SourceTables};
pub use report::{ComparedSource, ComparedTable, NotCompared, ReplicationReport, named};

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct ComparisonOptions {
    /// Sources; empty for all.
    pub sources: Vec<String>,
    /// Tables of the target, as `table` or `schema.table`; empty for all.
    pub tables: Vec<String>,
    /// Schemas of the target; empty for all.
    pub databases: Vec<String>,
    /// Connections to each server that read rows.
    pub threads: usize,
    /// How long a source may take to come to its position.
    pub timeout: Duration,
    /// Rows that a connection reads at a time; `None` for about 16 MiB.
    pub range_rows: Option<u64>,
}

/// Why nothing was compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target refused something, or cannot be reached.
    #[error("the target ({address}), {doing}: {source}")]
    Target {
        /// Its address.
        address: String,
        /// What was under way.
        doing: String,
        /// Its answer.
        source: Box<hortator_mysql::Error>,
    },
    /// A name that is not there.
    #[error("{0}")]
    Unknown(String),
}

/// A source that can be read.
struct Source<'o> {
    options: &'o SourceOptions,
    host: &'o ConnectOptions,
    guide: Connection,
    tables: SourceTables,
}

/// A comparison.
pub struct Comparison<'o> {
    options: &'o AgentOptions,
    /// Where an agent may answer.
    socket: PathBuf,
    wanted: ComparisonOptions,
}

impl<'o> Comparison<'o> {
    /// Of the sources of a configuration with its target.
    #[must_use]
    pub fn new(options: &'o AgentOptions, socket: PathBuf, wanted: ComparisonOptions) -> Comparison<'o> {
        Comparison { options, socket, wanted }
    }

    /// Compares. A source or table that cannot be compared is in the report.
    ///
    /// # Errors
    /// When the target cannot be read, or a name of the options is not there.
    pub fn run(&self, progress: &Progress) -> Result<ReplicationReport, Error> {
        let begin = Instant::now();
        let all = || self.options.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(name) = self.wanted.sources.iter().find(|name| self.index_of(name).is_none()) {
            return Err(Error::Unknown(format!("there is no source {name}: the configuration has {}", all())));
        }
        let (node, mut guide) = self.open_target()?;
        let names: Vec<&str> = self.options.sources.iter().map(|source| source.name.as_str()).collect();
        let mut report = report::Builder::new(node.address.to_string());
        let mut sources = self.open_sources(&mut report);
        // After those of the sources: what one of them has had for a while is here, too.
        let there = Listing::read(&mut guide, &self.options.schema).map_err(|source| Error::Target {
            address: node.address.to_string(),
            doing: "listing its tables".to_owned(),
            source: Box::new(source),
        })?;
        let configured: Vec<Configured<'_>> = (self.options.sources.iter().zip(&sources))
            .map(|(options, source)| Configured {
                name: &options.name,
                rules: &options.rules,
                tables: source.as_ref().map(|source| &source.tables),
            })
            .collect();
        let mut pairing = pairing::pair(&configured, &there);
        self.select(&mut pairing)?;
        let wanted: BTreeSet<usize> = (0..names.len()).filter(|index| self.is_wanted(names[*index])).collect();
        let readable: Vec<bool> = sources.iter().map(Option::is_some).collect();
        let groups = pairing.groups(&names, &wanted, &readable);
        pairing.not_compared.retain(|left| self.is_wanted(&left.source));
        std::mem::take(&mut pairing.not_compared).into_iter().for_each(|left| report.not_compared(left));
        let target = TargetSide { node, listing: &there };
        for group in groups {
            self.compare_group(&group, &mut sources, &pairing, &target, progress, &mut report);
        }
        if self.wanted.tables.is_empty() && self.wanted.databases.is_empty() && self.wanted.sources.is_empty() {
            report.only_on_target(&pairing.only_on_target);
        }
        Ok(report.finish(&names, begin.elapsed()))
    }

    fn open_sources(&self, report: &mut report::Builder) -> Vec<Option<Source<'o>>> {
        let status = self.status();
        let mut sources = Vec::new();
        for options in &self.options.sources {
            let found = self.open_source(options, status.as_deref());
            if let (Err(reason), true) = (&found, self.is_wanted(&options.name)) {
                report.source_failed(&options.name, &options.place(0), reason);
            }
            sources.push(found.ok());
        }
        sources
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.options.sources.iter().position(|source| source.name == *name)
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.wanted.sources.is_empty() || self.wanted.sources.iter().any(|wanted| wanted == name)
    }

    /// Leaves the tables that the options name.
    fn select(&self, pairing: &mut Pairing) -> Result<(), Error> {
        let (tables, databases) = (&self.wanted.tables, &self.wanted.databases);
        let is_wanted = |name: &str| {
            let (schema, table) = name.split_once('.').unwrap_or(("", name));
            (databases.is_empty() || databases.iter().any(|wanted| wanted == schema))
                && (tables.is_empty() || tables.iter().any(|wanted| wanted == name || wanted == table))
        };
        let known = |pairing: &Pairing| -> Vec<String> {
            let compared = pairing.tasks.iter().map(|task| task.task.name());
            compared.chain(pairing.not_compared.iter().map(|left| left.table.clone())).collect()
        };
        let all = known(pairing);
        let has = |wanted: &String, of_schema: bool| {
            all.iter().any(|name| match name.split_once('.') {
                Some((schema, _)) if of_schema => schema == wanted,
                Some((_, table)) => name == wanted || table == wanted,
                None => false,
            })
        };
        let missing = tables.iter().find(|name| !has(name, false)).map(|name| format!("a table `{name}`"));
        let missing =
            missing.or_else(|| databases.iter().find(|name| !has(name, true)).map(|name| format!("a schema `{name}`")));
        if let Some(what) = missing {
            return Err(Error::Unknown(format!(
                "no source has {what} by its name on the target, or the accounts cannot see it: check the name"
            )));
        }
        pairing.tasks.retain(|task| is_wanted(&task.task.name()));
        pairing.not_compared.retain(|left| is_wanted(&left.table));
        Ok(())
    }

    /// How an agent says that the sources stand; none where nothing runs.
    fn status(&self) -> Option<Vec<SourceStatus>> {
        match ask(&self.socket, &Request::Status) {
            Ok(Answer::Status { sources }) => Some(sources),
            _ => None,
        }
    }

    fn open_target(&self) -> Result<(&'o ConnectOptions, Connection), Error> {
        let mut failed = None;
        for node in &self.options.target {
            match open_session(node) {
                Ok(connection) => return Ok((node, connection)),
                Err(error) => {
                    let (address, doing) = (node.address.to_string(), "connecting".to_owned());
                    failed.get_or_insert(Error::Target { address, doing, source: Box::new(error) });
                }
            }
        }
        Err(failed.unwrap_or_else(|| Error::Unknown("the configuration has no target".to_owned())))
    }

    /// The host that the agent reads, or the first that answers, and its tables.
    fn open_source(&self, options: &'o SourceOptions, status: Option<&[SourceStatus]>) -> Result<Source<'o>, String> {
        let status = status.and_then(|all| all.iter().find(|status| status.name == options.name));
        let is_read = |host: &&ConnectOptions| status.is_some_and(|status| host.address.to_string() == status.host);
        let mut hosts: Vec<&ConnectOptions> = options.hosts.iter().filter(is_read).collect();
        hosts.extend(options.hosts.iter().filter(|host| !is_read(host)));
        let mut reason = "it has no host".to_owned();
        for host in hosts {
            match open_session(host) {
                Ok(mut guide) => {
                    let tables = self.list(options, &mut guide)?;
                    return Ok(Source { options, host, guide, tables });
                }
                Err(error) => reason = format!("the source cannot be reached: {error}"),
            }
        }
        Err(reason)
    }

    fn list(&self, options: &SourceOptions, guide: &mut Connection) -> Result<SourceTables, String> {
        let cannot = |error: hortator_mysql::Error| format!("listing its tables: {error}");
        let grants = crate::query::first_column(guide, b"SHOW GRANTS").map_err(cannot)?;
        if missing_rights(&grants, false).contains(&"SELECT") {
            return Err("its account may not read all tables: GRANT SELECT ON *.* TO it".to_owned());
        }
        let folds = first_value(guide, b"SELECT @@lower_case_table_names").map_err(cannot)? != "0";
        let rules = if folds { options.rules.clone().folding() } else { options.rules.clone() };
        let listing = Listing::read(guide, &self.options.schema).map_err(cannot)?;
        Ok(SourceTables { rules, listing })
    }

    /// Compares the tables of sources that are frozen together.
    fn compare_group(
        &self,
        group: &[usize],
        sources: &mut [Option<Source<'o>>],
        pairing: &Pairing,
        target: &TargetSide<'o>,
        progress: &Progress,
        report: &mut report::Builder,
    ) {
        let mut members: Vec<(usize, Source<'o>)> = Vec::new();
        for index in group {
            members.extend(sources[*index].take().map(|source| (*index, source)));
        }
        let mut freeze = freeze::Freeze::new(self.options, &self.socket, &self.wanted, target.node);
        let frozen = match freeze.run(&members) {
            Ok(frozen) => frozen,
            Err(failed) => {
                for (index, source) in members {
                    let reason = failed.reason_for(index);
                    report.source_failed(&source.options.name, &source.host.address.to_string(), &reason);
                }
                return;
            }
        };
        let (mut views, mut sides) = (Vec::new(), Vec::new());
        for ((index, source), (connections, position)) in members.into_iter().zip(frozen.sources) {
            let Source { options, host, guide, tables } = source;
            report.source(&options.name, &host.address.to_string(), &position.to_string());
            let name = format!("the source {} ({})", options.name, host.address);
            views.push(View { name, connections, guide });
            sides.push(SourceSide { index, options, host, tables });
        }
        let mut second = frozen.target;
        // What had not come to the target when its tables were listed may be there now.
        let is_late = pairing.tasks_of(group).any(|task| task.is_missing);
        let listed = if is_late { Listing::read(&mut second.guide, &self.options.schema).ok() } else { None };
        let target = TargetSide { node: target.node, listing: listed.as_ref().unwrap_or(target.listing) };
        let mut outcomes = Outcomes::new(&target, &sides, report);
        let (mut tasks, mut paired) = (Vec::new(), Vec::new());
        for task in pairing.tasks_of(group) {
            match task.in_views(group) {
                Some(in_views) if target.has(&task.task) => {
                    tasks.push(task);
                    paired.push(in_views);
                }
                _ => outcomes.missing(task),
            }
        }
        let mut told = 0;
        let done =
            compare_views(&mut views, &mut second, &paired, self.wanted.range_rows, progress, &mut |at, found| {
                told = at + 1;
                outcomes.take(tasks[at], found);
            });
        if let Err(error) = done {
            tasks[told..].iter().for_each(|task| outcomes.lost(task, &error.to_string()));
        }
    }
}

/// No such schema, no such table: nothing was ever applied.
const NOTHING_THERE: [u16; 2] = [1049, 1146];

/// The recorded position of a source, as text of GTIDs; `None` where there is none.
fn recorded_gtid(
    connection: &mut Connection,
    schema: &str,
    source: &str,
) -> Result<Option<String>, hortator_mysql::Error> {
    let query = [
        b"SELECT gtid FROM ".as_slice(),
        &hortator_mysql::quote_identifier(schema),
        b".replicate_positions WHERE source = ",
        &crate::apply::literal(source.as_bytes()),
    ]
    .concat();
    match texts(connection, &query) {
        Err(hortator_mysql::Error::Server(error)) if NOTHING_THERE.contains(&error.code) => Ok(None),
        rows => Ok(rows?.into_iter().next().and_then(|row| row.into_iter().next())),
    }
}
