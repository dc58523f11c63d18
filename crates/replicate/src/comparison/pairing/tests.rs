//! Cases of tables, rules and what they come to.

use super::super::listing::Listed;
use super::*;
use crate::rules::{Changes, Effect, Rule};

fn listing(tables: &[(&str, &str)]) -> Listing {
    let named = |(name, engine): &(&str, &str)| {
        let (schema, table) = name.split_once('.').unwrap();
        ((schema.to_owned(), table.to_owned()), Listed::table(engine))
    };
    Listing(tables.iter().map(named).collect())
}

/// `match`, `to`, left out changes, source column.
fn rule((tables, to, without, column): (&str, &str, &[&str], &str)) -> Rule {
    let effect = match to {
        "" => Effect::LeaveOut,
        _ => Effect::Apply {
            to: Some(to.parse().unwrap()),
            without: Changes::read(without.iter().copied()).unwrap(),
            source_column: (!column.is_empty()).then(|| column.to_owned()),
        },
    };
    Rule { tables: tables.parse().unwrap(), effect }
}

type RuleCase<'c> = (&'c str, &'c str, &'c [&'c str], &'c str);

/// What two sources with the same rules and tables of `engine` come to; without tables, the second one cannot be read.
fn check(rules: &[RuleCase<'_>], tables: [Option<&[(&str, &str)]>; 2], target: &[(&str, &str)], expected: &[&str]) {
    let made = ["s1", "s2"].map(|name| Rules::new(name, rules.iter().copied().map(rule).collect()));
    let read: Vec<Option<SourceTables>> = (tables.iter().zip(&made))
        .map(|(tables, rules)| Some(SourceTables { rules: rules.clone(), listing: listing((*tables)?) }))
        .collect();
    let sources: Vec<Configured<'_>> = (["s1", "s2"].into_iter().zip(&made).zip(&read))
        .map(|((name, rules), tables)| Configured { name, rules, tables: tables.as_ref() })
        .collect();
    let pairing = pair(&sources, &listing(target));
    let mut found = Vec::new();
    for task in &pairing.tasks {
        let part = |part: &Part| format!("s{}:{}.{}", part.view + 1, text(&part.schema), text(&part.table));
        let parts = task.task.parts.iter().map(part).collect::<Vec<_>>().join("+");
        let marked =
            task.task.marked.as_ref().map(|(column, name)| format!(" where {column}={name}")).unwrap_or_default();
        let missing = if task.is_missing { ", missing" } else { "" };
        let excuse = task.excuse.as_ref().map(|excuse| format!(", {excuse}")).unwrap_or_default();
        found.push(format!("{parts} = {}{marked}{missing}{excuse}", task.task.name()));
    }
    for left in &pairing.not_compared {
        assert!(left.is_expected);
        found.push(format!("{}:{} not: {}", left.source, left.source_table, left.reason));
    }
    found.extend(pairing.only_on_target.iter().map(|name| format!("only {name}")));
    assert_eq!(found, expected);
}

const T: &[(&str, &str)] = &[("shop.t", "InnoDB")];

#[test]
fn tables_and_rules() {
    check(
        &[("shop.*", "a.*", &[], "")],
        [Some(T), Some(&[])],
        &[("a.t", "InnoDB"), ("a.u", "InnoDB"), ("b.u", "InnoDB")],
        &["s1:shop.t = a.t", "only a.u"],
    );
    check(&[], [Some(T), Some(&[("other.t", "InnoDB")])], T, &["s2:other.t = other.t, missing", "s1:shop.t = shop.t"]);
    check(&[("shop.t", "", &[], "")], [Some(T), Some(&[])], T, &["s1:shop.t not: a rule leaves them out"]);
    check(
        &[("shop.*", "a.*", &["delete", "drop"], "")],
        [Some(T), Some(&[])],
        &[],
        &["s1:shop.t not: a rule leaves delete out"],
    );
    check(
        &[("shop.*", "a.*", &["alter", "drop"], "")],
        [Some(T), Some(&[])],
        &[("a.t", "InnoDB")],
        &["s1:shop.t = a.t, a rule leaves alter, drop out"],
    );
    check(
        &[],
        [Some(&[("shop.t", "MyISAM")]), Some(&[])],
        &[("shop.t", "Aria")],
        &["s1:shop.t not: tables of MyISAM have no snapshot"],
    );
    check(
        &[],
        [Some(T), Some(&[])],
        &[("shop.t", "Aria")],
        &["s1:shop.t not: its table on the target is of Aria, which has no snapshot"],
    );
}

#[test]
fn merged_tables() {
    let shared: &[RuleCase<'_>] = &[("shop.*", "a.*", &[], "")];
    check(shared, [Some(T), Some(T)], &[("a.t", "InnoDB")], &["s1:shop.t+s2:shop.t = a.t"]);
    check(
        shared,
        [Some(T), None],
        &[("a.t", "InnoDB")],
        &["s1:shop.t not: the table may have rows of s2, which cannot be read"],
    );
    check(
        shared,
        [Some(T), Some(&[("shop.t", "MyISAM")])],
        &[("a.t", "InnoDB")],
        &["s1:shop.t not: tables of MyISAM have no snapshot", "s2:shop.t not: tables of MyISAM have no snapshot"],
    );
    let marked: &[RuleCase<'_>] = &[("shop.*", "a.*", &[], "s"), ("old.t", "a.t", &[], "s")];
    let two: &[(&str, &str)] = &[("old.t", "InnoDB"), ("shop.t", "InnoDB")];
    check(
        marked,
        [Some(two), Some(T)],
        &[("a.t", "InnoDB")],
        &["s1:old.t+s1:shop.t = a.t where s=s1", "s2:shop.t = a.t where s=s2"],
    );
    check(marked, [Some(T), None], &[("a.t", "InnoDB")], &["s1:shop.t = a.t where s=s1"]);
    let mixed: &[RuleCase<'_>] = &[("shop.*", "a.*", &[], "s"), ("old.t", "a.t", &[], "")];
    check(
        mixed,
        [Some(two), Some(&[])],
        &[("a.t", "InnoDB")],
        &[
            "s1:shop.t = a.t where s=s1",
            "s1:old.t not: rows of other sources are in the table too, with a source column that these lack",
        ],
    );
}

#[test]
fn sources_that_are_frozen_together() {
    let task = |views: &[usize]| PairedTask {
        task: TableTask {
            parts: views.iter().map(|view| Part { view: *view, schema: b"d".to_vec(), table: b"t".to_vec() }).collect(),
            schema: b"a".to_vec(),
            table: b"t".to_vec(),
            marked: None,
        },
        excuse: None,
        is_missing: false,
    };
    let names = ["s1", "s2", "s3", "s4"];
    let all: BTreeSet<usize> = (0..4).collect();
    let mut pairing = Pairing { tasks: vec![task(&[0]), task(&[1, 3])], ..Pairing::default() };
    assert_eq!(pairing.groups(&names, &all, &[true; 4]), [vec![0], vec![1, 3], vec![2]]);
    assert_eq!(pairing.tasks_of(&[1, 3]).count(), 1);
    let mut pairing = Pairing { tasks: vec![task(&[2, 0]), task(&[1, 3]), task(&[3, 2])], ..Pairing::default() };
    assert_eq!(pairing.groups(&names, &all, &[true; 4]), [vec![0, 1, 2, 3]]);
    // One that is not wanted, and one that cannot be read.
    let mut pairing = Pairing { tasks: vec![task(&[0, 1]), task(&[0])], ..Pairing::default() };
    let groups = pairing.groups(&names, &BTreeSet::from([0, 2]), &[true, true, false, true]);
    assert_eq!(groups, [vec![0]]);
    assert_eq!(pairing.not_compared.len(), 1);
    assert_eq!(pairing.not_compared[0].reason, "rows of s2 are in the table too: compare that source with it");
}
