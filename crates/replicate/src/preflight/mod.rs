//! What would go wrong, before anything is started: settings, grants, names that collide, tables without keys.
//!
//! `facts` asks the servers; `findings` is a pure function of what they say.

mod cascades;
mod columns;
mod copies;
mod facts;
mod findings;
mod of_mysql;

#[cfg(test)]
mod tests;

use hortator_mysql::{ConnectOptions, Error};

use crate::agent::AgentOptions;
use crate::apply::ConflictPolicy;
use crate::rules::Rules;

pub use facts::{MySqlFacts, SourceFacts, TargetFacts};
pub use findings::{Finding, Severity};

/// The tables of a source that reach the target, as `schema.table` there.
///
/// # Errors
/// When no host can be reached, or does not say.
pub(crate) fn tables_on_target(hosts: &[ConnectOptions], rules: &Rules) -> Result<Vec<String>, Error> {
    Ok(facts::of_source(hosts)?.under(rules).tables)
}

/// Asks the target and all sources, and says what was found.
#[must_use]
pub fn check(options: &AgentOptions) -> Vec<Finding> {
    let target = facts::of_target(&options.target);
    let sources: Vec<_> = options
        .sources
        .iter()
        .map(|source| {
            let overwrites = source.conflict == ConflictPolicy::Overwrite;
            let facts = facts::of_source(&source.hosts);
            let ignored_ids = source.ignore_server_ids.clone();
            let facts = facts.map(|facts| SourceFacts { overwrites, ignored_ids, ..facts.under(&source.rules) });
            (source.name.clone(), facts)
        })
        .collect();
    let mut found = findings::findings(&target, options.target.len(), &sources);
    found.extend(copies::check(options));
    found.extend(cascades::check(options));
    found.extend(columns::check(options));
    found
}
