//! Which rows of the target are those of which tables of the sources: pure.

use std::collections::{BTreeMap, BTreeSet};

use hortator_check::compare::{Part, TableTask};

use super::listing::{ListedKind, Listing};
use super::report::NotCompared;
use crate::rules::{Change, Decision, Rules};

/// A source of the configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configured<'s> {
    pub(super) name: &'s str,
    pub(super) rules: &'s Rules,
    /// None where it cannot be read.
    pub(super) tables: Option<&'s SourceTables>,
}

/// What is known of a source.
#[derive(Clone, Debug)]
pub(super) struct SourceTables {
    pub(super) rules: Rules,
    pub(super) listing: Listing,
}

/// A comparison; the views of its parts are numbers of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PairedTask {
    pub(super) task: TableTask,
    /// Why a difference is none: changes that a rule leaves out.
    pub(super) excuse: Option<String>,
    /// The target had no such table when its tables were listed.
    pub(super) is_missing: bool,
}

impl PairedTask {
    /// The same with the numbers of views: those of the sources' places in a group.
    pub(super) fn in_views(&self, group: &[usize]) -> Option<TableTask> {
        let mut task = self.task.clone();
        for part in &mut task.parts {
            part.view = group.iter().position(|index| *index == part.view)?;
        }
        Some(task)
    }

    fn sources(&self) -> BTreeSet<usize> {
        self.task.parts.iter().map(|part| part.view).collect()
    }
}

/// What is to be done.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    pub(super) tasks: Vec<PairedTask>,
    pub(super) not_compared: Vec<NotCompared>,
    /// Tables in schemas of the sources that no source has.
    pub(super) only_on_target: Vec<String>,
}

/// A table of a source that has rows on the target.
struct Contribution {
    source: usize,
    name: (String, String),
    marked: Option<String>,
    excuse: Option<String>,
    /// Why its rows cannot be compared.
    objection: Option<String>,
}

const ROW_CHANGES: [Change; 3] = [Change::Insert, Change::Update, Change::Delete];
const DEFINITION_CHANGES: [Change; 4] = [Change::Create, Change::Alter, Change::Truncate, Change::Drop];

/// Pairs the tables of all sources, those that cannot be read included, with those of the target.
pub(super) fn pair(sources: &[Configured<'_>], target: &Listing) -> Pairing {
    let mut pairing = Pairing::default();
    let mut by_target: BTreeMap<(String, String), Vec<Contribution>> = BTreeMap::new();
    let mut left_out: BTreeSet<(String, String)> = BTreeSet::new();
    let mut schemas: BTreeSet<String> = BTreeSet::new();
    for (index, source) in sources.iter().enumerate() {
        let Some(SourceTables { rules, listing }) = source.tables else { continue };
        for (name, listed) in &listing.0 {
            let decision = rules.decide(name.0.as_bytes(), name.1.as_bytes());
            let Some((schema, table)) = rules.name_on_target(name.0.as_bytes(), name.1.as_bytes()) else {
                left_out.insert(name.clone());
                pairing.not_compared.push(NotCompared::by_rule(source.name, name, "a rule leaves them out"));
                continue;
            };
            let on_target = (text(&schema), text(&table));
            schemas.insert(on_target.0.clone());
            let (marked, skipped) = match decision {
                Decision::Apply(rule) => {
                    let skipped = |changes: &[Change]| {
                        let words =
                            changes.iter().filter(|change| rule.leaves_out(**change)).map(|change| change.word());
                        words.collect::<Vec<_>>().join(", ")
                    };
                    (rule.source_column().map(str::to_owned), [skipped(&ROW_CHANGES), skipped(&DEFINITION_CHANGES)])
                }
                Decision::AsIs | Decision::LeaveOut => (None, Default::default()),
            };
            let [rows, definitions] = skipped;
            let objection = match listed.kind {
                _ if !rows.is_empty() => Some(format!("a rule leaves {rows} out")),
                ListedKind::Sequence => Some("sequences have no snapshot".to_owned()),
                ListedKind::Table if !listed.has_snapshot() => {
                    Some(format!("tables of {} have no snapshot", listed.engine))
                }
                ListedKind::Table => None,
            };
            let excuse = (!definitions.is_empty()).then(|| format!("a rule leaves {definitions} out"));
            let contribution = Contribution { source: index, name: name.clone(), marked, excuse, objection };
            by_target.entry(on_target).or_default().push(contribution);
        }
    }
    for (name, contributions) in &by_target {
        pair_table(&mut pairing, name, contributions, sources, target);
    }
    let is_own = |name: &&(String, String)| schemas.contains(&name.0) && !by_target.contains_key(*name);
    let only = target.0.keys().filter(is_own).filter(|name| !left_out.contains(*name));
    pairing.only_on_target = only.map(|(schema, table)| format!("{schema}.{table}")).collect();
    pairing
}

/// What becomes of one table of the target.
fn pair_table(
    pairing: &mut Pairing,
    name: &(String, String),
    contributions: &[Contribution],
    sources: &[Configured<'_>],
    target: &Listing,
) {
    let mut refuse = |of: &[&Contribution], reason: &str| {
        for one in of {
            pairing.not_compared.push(NotCompared {
                table: format!("{}.{}", name.0, name.1),
                source: sources[one.source].name.to_owned(),
                source_table: format!("{}.{}", one.name.0, one.name.1),
                reason: reason.to_owned(),
                is_expected: true,
            });
        }
    };
    // With a source column, each source's rows are told apart.
    let mut groups: BTreeMap<(bool, usize), Vec<&Contribution>> = BTreeMap::new();
    for one in contributions {
        let key = if one.marked.is_some() { (true, one.source) } else { (false, 0) };
        groups.entry(key).or_default().push(one);
    }
    let is_mixed = groups.keys().any(|(is_marked, _)| *is_marked) && groups.contains_key(&(false, 0));
    let listed = target.get(&name.0, &name.1);
    let mut tasks = Vec::new();
    for ((is_marked, _), members) in groups {
        let unread = sources.iter().find(|source| {
            source.tables.is_none() && source.rules.leading_to(name.0.as_bytes(), name.1.as_bytes()).is_some()
        });
        let objection = members.iter().find_map(|one| one.objection.clone());
        let reason = match (objection, unread, listed) {
            (Some(reason), ..) => Some(reason),
            _ if !is_marked && is_mixed => {
                Some("rows of other sources are in the table too, with a source column that these lack".to_owned())
            }
            (_, Some(source), _) if !is_marked => {
                Some(format!("the table may have rows of {}, which cannot be read", source.name))
            }
            (.., Some(listed)) if listed.kind != ListedKind::Table || !listed.has_snapshot() => {
                Some(format!("its table on the target is of {}, which has no snapshot", listed.engine))
            }
            _ => None,
        };
        if let Some(reason) = reason {
            refuse(&members, &reason);
            continue;
        }
        let parts = members.iter().map(|one| Part {
            view: one.source,
            schema: one.name.0.clone().into_bytes(),
            table: one.name.1.clone().into_bytes(),
        });
        let marked = members.first().and_then(|one| Some((one.marked.clone()?, sources[one.source].name.to_owned())));
        let (schema, table) = (name.0.clone().into_bytes(), name.1.clone().into_bytes());
        tasks.push(PairedTask {
            task: TableTask { parts: parts.collect(), schema, table, marked },
            excuse: members.iter().find_map(|one| one.excuse.clone()),
            is_missing: listed.is_none(),
        });
    }
    pairing.tasks.extend(tasks);
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl Pairing {
    /// The sources that are wanted, in groups that must be frozen together. What would need one that is not wanted is not
    /// compared.
    pub(super) fn groups(
        &mut self,
        sources: &[&str],
        wanted: &BTreeSet<usize>,
        is_readable: &[bool],
    ) -> Vec<Vec<usize>> {
        let of_others = |task: &PairedTask| {
            let missing = task.sources().into_iter().find(|index| !wanted.contains(index))?;
            sources.get(missing).map(|name| (*name).to_owned())
        };
        let mut kept = Vec::new();
        for task in std::mem::take(&mut self.tasks) {
            match of_others(&task) {
                None => kept.push(task),
                Some(other) => {
                    for part in task.task.parts.iter().filter(|part| wanted.contains(&part.view)) {
                        self.not_compared.push(NotCompared {
                            table: task.task.name(),
                            source: sources.get(part.view).map(|name| (*name).to_owned()).unwrap_or_default(),
                            source_table: format!("{}.{}", text(&part.schema), text(&part.table)),
                            reason: format!("rows of {other} are in the table too: compare that source with it"),
                            is_expected: true,
                        });
                    }
                }
            }
        }
        self.tasks = kept;
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        let single = wanted.iter().filter(|index| is_readable.get(**index) == Some(&true));
        for members in single.map(|index| BTreeSet::from([*index])).chain(self.tasks.iter().map(PairedTask::sources)) {
            let (together, mut apart): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|group: &BTreeSet<usize>| !group.is_disjoint(&members));
            apart.push(together.into_iter().fold(members, |all, group| all.union(&group).copied().collect()));
            groups = apart;
        }
        groups.sort_by_key(|group| group.first().copied());
        groups.into_iter().map(|group| group.into_iter().collect()).collect()
    }

    /// The comparisons of a group of sources.
    pub(super) fn tasks_of(&self, group: &[usize]) -> impl Iterator<Item = &PairedTask> {
        let first: Vec<usize> = group.to_vec();
        self.tasks.iter().filter(move |task| task.sources().iter().all(|index| first.contains(index)))
    }
}

#[cfg(test)]
mod tests;
