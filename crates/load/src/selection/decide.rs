//! What the rules say of one statement.

use super::scope::{ObjectKind, Part, SchemaVerb, Scope};
use super::{NamePattern, Selection};
use crate::analysis::NamedTable;
use crate::planner::Names;

/// The option that leaves a statement out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    Only,
    Skip,
    NoData,
    NoSchema,
    SkipTriggers,
    SkipRoutines,
    SkipEvents,
}

impl LeftOut {
    /// As on the command line.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Only => "--only",
            Self::Skip => "--skip",
            Self::NoData => "--no-data",
            Self::NoSchema => "--no-schema",
            Self::SkipTriggers => "--skip-triggers",
            Self::SkipRoutines => "--skip-routines",
            Self::SkipEvents => "--skip-events",
        }
    }
}

/// What is to be done with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Run,
    LeaveOut(LeftOut),
    /// It is not certain what of it to run, for this reason.
    Refuse(String),
}

/// How much of a schema is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    All,
    Some(LeftOut),
    Nothing(LeftOut),
}

/// Whether something of a schema may be selected; an error is the option that leaves all of it out.
pub(crate) fn selects_schema(selection: &Selection, schema: &[u8], names: Names<'_>) -> Result<(), LeftOut> {
    let schema = readable(schema, names);
    match share(selection, &schema.text, names.folds_case) {
        Share::Nothing(option) if schema.is_known => Err(option),
        // A name that is not known is judged where an object of the schema comes.
        _ => Ok(()),
    }
}

/// What is to be done with a statement of this scope. `names`: how names are understood at its place.
pub(crate) fn decide(scope: &Scope, selection: &Selection, names: Names<'_>) -> Decision {
    by_kind(scope, selection).unwrap_or_else(|| by_names(scope, selection, names).unwrap_or_else(Decision::Refuse))
}

/// Whether a pattern matches an object that a statement names, or the schema of one that it defines.
pub(crate) fn names_match(pattern: &NamePattern, scope: &Scope, names: Names<'_>) -> bool {
    let matches = |object: &NamedTable, folds_name: bool| {
        let Some(schema) = object.schema.as_deref().or(names.database) else { return false };
        let (schema, name) = (readable(schema, names), readable(&object.table, names));
        pattern.matches(&schema.text, &name.text, names.folds_case, folds_name)
    };
    match scope {
        Scope::Objects { kind, names: objects, .. } => {
            objects.iter().any(|object| matches(object, *kind != ObjectKind::Relation))
        }
        Scope::Rows { target, .. } => matches(target, false),
        Scope::Rename(tables) | Scope::Locks(tables) | Scope::Query { names: tables, .. } => {
            tables.iter().any(|table| matches(table, false))
        }
        Scope::Schema { name: Some(schema), verb: SchemaVerb::Define } => {
            pattern.takes_whole_schemas() && pattern.matches_schema(&readable(schema, names).text, names.folds_case)
        }
        _ => false,
    }
}

/// What the rules say of its kind alone.
fn by_kind(scope: &Scope, selection: &Selection) -> Option<Decision> {
    let leave_out = |is_on: bool, option| is_on.then_some(Decision::LeaveOut(option));
    match scope {
        Scope::Server if !selection.only.is_empty() => Some(Decision::LeaveOut(LeftOut::Only)),
        Scope::Anything(reason) if selection.restricts_tables() => Some(Decision::Refuse((*reason).to_owned())),
        Scope::Session | Scope::Server | Scope::Anything(_) => Some(Decision::Run),
        Scope::Rows { .. } | Scope::Query { writes: true, .. } => leave_out(selection.no_data, LeftOut::NoData),
        Scope::Objects { part: Part::Both, .. } if selection.no_data || selection.no_schema => {
            Some(Decision::Refuse("it defines a table and brings its rows in one".to_owned()))
        }
        Scope::Objects { kind: ObjectKind::Routine, .. } if selection.skip_routines => {
            Some(Decision::LeaveOut(LeftOut::SkipRoutines))
        }
        Scope::Objects { kind: ObjectKind::Event, .. } if selection.skip_events => {
            Some(Decision::LeaveOut(LeftOut::SkipEvents))
        }
        Scope::Trigger { .. } if selection.skip_triggers => Some(Decision::LeaveOut(LeftOut::SkipTriggers)),
        Scope::Rename(_) if selection.no_schema => {
            Some(Decision::Refuse("it gives another name to a table whose rows come before or behind it".to_owned()))
        }
        Scope::Objects { part: Part::Definition | Part::ViewDefinition, .. }
        | Scope::Trigger { .. }
        | Scope::Schema { .. } => leave_out(selection.no_schema, LeftOut::NoSchema),
        _ => None,
    }
}

/// What the rules say of the names; an error is the reason to refuse the statement.
fn by_names(scope: &Scope, selection: &Selection, names: Names<'_>) -> Result<Decision, String> {
    let of_relations = |tables: &[NamedTable]| verdicts(tables, ObjectKind::Relation, selection, names);
    match scope {
        Scope::Schema { name, verb } => {
            let Some(name) = name.as_deref().or(names.database) else { return Ok(Decision::Run) };
            let share = share(selection, &known(name, names)?, names.folds_case);
            match (share, verb) {
                (Share::All, _) | (Share::Some(_), SchemaVerb::Define) => Ok(Decision::Run),
                // Of a part: what it takes away does not come again; selected tables are dropped one by one.
                (Share::Nothing(option), _) | (Share::Some(option), SchemaVerb::Drop) => Ok(Decision::LeaveOut(option)),
                (Share::Some(option), SchemaVerb::Replace) => Err(format!(
                    "it takes away all objects of the schema, and {} leaves some of them out",
                    option.option()
                )),
            }
        }
        Scope::Objects { kind, names: objects, .. } => one_decision(&verdicts(objects, *kind, selection, names)?),
        Scope::Rename(tables) | Scope::Query { names: tables, .. } => one_decision(&of_relations(tables)?),
        Scope::Rows { target, sources } => {
            let [(_, Some(option))] = of_relations(std::slice::from_ref(target))?[..] else {
                return match left_out(&of_relations(sources)?) {
                    Some((name, option)) => Err(format!("it reads {name}, which {} leaves out", option.option())),
                    None => Ok(Decision::Run),
                };
            };
            Ok(Decision::LeaveOut(option))
        }
        Scope::Trigger { table: Some(table), .. } => one_decision(&of_relations(std::slice::from_ref(table))?),
        Scope::Trigger { trigger, table: None } => {
            let Some(schema) = trigger.schema.as_deref().or(names.database) else { return Ok(Decision::Run) };
            Ok(match share(selection, &known(schema, names)?, names.folds_case) {
                Share::All => Decision::Run,
                // Of which table it is, its text does not tell.
                Share::Some(option) | Share::Nothing(option) => Decision::LeaveOut(option),
            })
        }
        Scope::Locks(tables) | Scope::Report(tables) => {
            Ok(left_out(&of_relations(tables)?).map_or(Decision::Run, |(_, option)| Decision::LeaveOut(option)))
        }
        Scope::Session | Scope::Server | Scope::Anything(_) => Ok(Decision::Run),
    }
}

/// Each name with the option that leaves it out, if one does.
type Verdict = (String, Option<LeftOut>);

/// What the rules say of each name; an error is a name that cannot be compared.
fn verdicts(
    objects: &[NamedTable],
    kind: ObjectKind,
    selection: &Selection,
    names: Names<'_>,
) -> Result<Vec<Verdict>, String> {
    if !selection.has_names() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for object in objects {
        // Without a schema, the server reports its own error.
        let Some(schema) = object.schema.as_deref().or(names.database) else { continue };
        let (schema, name) = (readable(schema, names), readable(&object.table, names));
        let has = |patterns: &[NamePattern]| {
            any_matches(patterns, &schema, &name, names.folds_case, kind != ObjectKind::Relation)
        };
        let option = if has(&selection.skip)? {
            Some(LeftOut::Skip)
        } else if !selection.only.is_empty() && !has(&selection.only)? {
            Some(LeftOut::Only)
        } else {
            None
        };
        found.push((format!("{}.{}", schema.text, name.text), option));
    }
    Ok(found)
}

/// The first name that is left out.
fn left_out(verdicts: &[Verdict]) -> Option<(&str, LeftOut)> {
    verdicts.iter().find_map(|(name, option)| Some((name.as_str(), (*option)?)))
}

/// The decision for all names; an error where they are not all of one.
fn one_decision(verdicts: &[Verdict]) -> Result<Decision, String> {
    let Some((left_out, option)) = left_out(verdicts) else { return Ok(Decision::Run) };
    match verdicts.iter().find(|(_, option)| option.is_none()) {
        None => Ok(Decision::LeaveOut(option)),
        Some((selected, _)) => {
            Err(format!("it names {selected}, which is selected, and {left_out}, which {} leaves out", option.option()))
        }
    }
}

fn share(selection: &Selection, schema: &str, folds: bool) -> Share {
    let of_schema = |patterns: &[NamePattern], whole: bool| {
        patterns
            .iter()
            .any(|pattern| pattern.matches_schema(schema, folds) && (!whole || pattern.takes_whole_schemas()))
    };
    let Selection { only, skip, .. } = selection;
    if of_schema(skip, true) {
        Share::Nothing(LeftOut::Skip)
    } else if !only.is_empty() && !of_schema(only, false) {
        Share::Nothing(LeftOut::Only)
    } else if of_schema(skip, false) {
        Share::Some(LeftOut::Skip)
    } else if !only.is_empty() && !of_schema(only, true) {
        Share::Some(LeftOut::Only)
    } else {
        Share::All
    }
}

/// The name of a schema that is known whole.
fn known(schema: &[u8], names: Names<'_>) -> Result<String, String> {
    match readable(schema, names) {
        Readable { text, is_known: true } => Ok(text),
        Readable { text, .. } => Err(format!(
            "the name `{text}` is not in UTF-8 (the dump sets another character set), so no pattern can be compared with it"
        )),
    }
}

/// A name as text.
struct Readable {
    text: String,
    /// Its characters are known. Otherwise those beyond ASCII are not: each stands for any other.
    is_known: bool,
}

/// A name as text, as far as its bytes tell what the server reads.
fn readable(name: &[u8], names: Names<'_>) -> Readable {
    let is_known = name.is_ascii() || (names.are_utf8 && std::str::from_utf8(name).is_ok());
    Readable { text: String::from_utf8_lossy(name).into_owned(), is_known }
}

/// Whether one of the patterns matches an object; an error where that is not certain.
fn any_matches(
    patterns: &[NamePattern],
    schema: &Readable,
    name: &Readable,
    folds: bool,
    folds_name: bool,
) -> Result<bool, String> {
    let mut uncertain = None;
    for pattern in patterns {
        let judges = pattern.judges_ascii_of(schema.is_known, name.is_known);
        if judges && pattern.matches(&schema.text, &name.text, folds, folds_name) {
            return Ok(true);
        }
        if !judges && (!schema.is_known || pattern.matches_schema(&schema.text, folds)) {
            uncertain = Some(pattern);
        }
    }
    uncertain.map_or(Ok(false), |pattern| {
        Err(format!(
            "the name `{}.{}` is not in UTF-8 (the dump sets another character set), so `{pattern}` cannot be compared with it",
            schema.text, name.text
        ))
    })
}
