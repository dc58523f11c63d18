//! Hand-made histories. A line is a transaction: its level, its outcome, and its steps: `x+1` appends 1 to list x, `x=1,2` reads
//! it, `r:5` writes 5 into register r, `r?5` reads it, `r!5` reads it with a lock. Nothing behind `=`, `?` and `!`: there is
//! no row yet.

use super::*;

fn key(name: &str) -> Key {
    let number = i64::from(name.as_bytes()[0]);
    if name >= "t" { Key::List(number) } else { Key::Register(number) }
}

fn step(text: &str) -> Step {
    let (name, rest) = text.split_at(1);
    let (sign, values) = rest.split_at(1);
    let seen: Vec<i64> = values.split(',').filter(|value| !value.is_empty()).map(|it| it.parse().unwrap()).collect();
    match sign {
        "+" | ":" => Step::Write { key: key(name), value: seen[0] },
        sign => Step::Read { key: key(name), seen, is_locking: sign == "!" },
    }
}

fn transaction((nth, line): (usize, &&str)) -> Transaction {
    let words: Vec<&str> = line.split_whitespace().collect();
    let level = match words[0] {
        "rc" => Level::ReadCommitted,
        "rr" => Level::RepeatableRead,
        _ => Level::Serializable,
    };
    let outcome = match words[1] {
        "ok" => Outcome::Confirmed,
        "no" => Outcome::Refused,
        _ => Outcome::Unknown,
    };
    let steps = words[2..].iter().map(|word| step(word)).collect();
    Transaction { id: (nth, 1), node: 0, level, is_streaming: false, outcome, error: None, steps }
}

/// The anomalies of a history, whose lists end as `last` says.
fn found(history: &[&str], last: &[&str]) -> Vec<&'static str> {
    let history: Vec<Transaction> = history.iter().enumerate().map(transaction).collect();
    let last = last.iter().map(|text| match step(text) {
        Step::Read { key, seen, .. } => (key, seen),
        step => panic!("{step:?} is no read"),
    });
    let found = check(&history, &last.collect());
    let names = found.0.iter().flat_map(|((anomaly, _), texts)| texts.iter().map(|_| anomaly.name()));
    names.collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_serial_history_has_no_anomaly() {
    let history =
        ["rr ok x= x+1 x=1 y+1", "rr ok x=1 y=1 x+2 y+2", "rc ok y=1,2 x=1,2", "rr ok r? r:7", "rr ok r!7 r:8 r?8"];
    assert_eq!(found(&history, &["x=1,2", "y=1,2", "r?8"]), NOTHING);
    assert_eq!(found(&["rr un x+1", "rr un x+2", "rr ok x=2"], &["x=2"]), NOTHING, "one of the unknown ones committed");
}

#[test]
fn writes_over_one_another_in_a_circle_are_g0() {
    assert_eq!(found(&["rc ok x+1 y+1", "rc ok x+2 y+2"], &["x=1,2", "y=2,1"]), ["G0"]);
    assert_eq!(found(&["rc ok x+1 y+1", "rc ok x+2 y+2"], &["x=1,2", "y=1,2"]), NOTHING);
}

#[test]
fn a_read_of_a_refused_transaction_is_g1a() {
    assert_eq!(found(&["rc no x+1", "rc ok x=1"], &["x="]), ["G1a"]);
    assert_eq!(found(&["rc no r? r:1", "rc ok r?1"], &["r?"]), ["G1a"]);
}

#[test]
fn a_read_of_a_part_of_a_transaction_is_g1b() {
    // It has read of the first one, and missed it, too.
    assert_eq!(found(&["rc ok x+1 x+2", "rc ok x=1"], &["x=1,2"]), ["G1b", "G-single"]);
    assert_eq!(found(&["rc ok r? r:1 r:2", "rc ok r?1"], &["r?2"]), ["G1b"]);
    assert_eq!(found(&["rc ok x+1 x=1 x+2"], &["x=1,2"]), NOTHING, "of its own");
}

#[test]
fn transactions_that_read_each_other_are_g1c() {
    assert_eq!(found(&["rc ok x+1 y=1", "rc ok y+1 x=1"], &["x=1", "y=1"]), ["G1c"]);
    assert_eq!(found(&["rc ok x+1 r?5", "rc ok r? r:5 x+2"], &["x=1,2", "r?5"]), ["G1c"]);
}

#[test]
fn a_torn_read_and_an_update_without_a_lock_are_g_single() {
    assert_eq!(found(&["rr ok x+1 y+1", "rr ok x=1 y="], &["x=1", "y=1"]), ["G-single"], "half of the first one");
    assert_eq!(found(&["rr ok r? r:1", "rr ok r? r:2"], &["r?2"]), NOTHING, "nobody knows which came first");
    let history = ["rr ok r? r:1", "rr ok r?1 r:2", "rr ok r?1 r:3 x+1", "rr ok r?2 x="];
    assert_eq!(found(&history, &["x=1", "r?3"]), NOTHING, "it may have been before");
    assert_eq!(found(&["rr ok x= x+1", "rr ok x= x+2"], &["x=1,2"]), ["G-single"], "the second has missed the first");
    assert_eq!(found(&["rr ok x= y+1", "rr ok y= x+1"], &["x=1", "y=1"]), NOTHING, "write skew has two missed writes");
}

#[test]
fn two_that_replace_the_same_value_under_a_lock_are_a_lost_update() {
    assert_eq!(found(&["rr ok r:9", "rr ok r!9 r:1", "rc ok r!9 r:2"], &["r?2"]), ["lost update"]);
    assert_eq!(found(&["rr ok r:9", "rr ok r!9 r:1", "rc no r!9 r:2"], &["r?1"]), NOTHING);
    assert_eq!(found(&["rr ok r:9", "rr ok r!9 r:1", "rc ok r!1 r:2"], &["r?2"]), NOTHING);
    assert_eq!(found(&["rr ok r! r:1", "rc ok r! r:2"], &["r?2"]), NOTHING, "there was no row to lock");
}

#[test]
fn a_transaction_sees_itself() {
    assert_eq!(found(&["rc ok x+1 x="], &["x=1"]), ["internal"]);
    assert_eq!(found(&["rc ok r? r:1 r?9", "rc ok r? r:9"], &["r?1"]), ["internal"]);
    let others = ["rr ok x+1", "rr ok x+2"];
    assert_eq!(
        found(&[&others[..], &["rr ok x=1 x=1,2"]].concat(), &["x=1,2"]),
        ["G-single", "internal"],
        "not repeatable"
    );
    assert_eq!(found(&[&others[..], &["rc ok x=1 x=1,2"]].concat(), &["x=1,2"]), ["G-single"], "allowed here");
    assert_eq!(found(&[&others[..], &["rc ok x=1,2 x=1"]].concat(), &["x=1,2"]), ["G-single", "internal"], "backwards");
    let writes = [&others[..], &["rr ok x=1 x+3 x=1,2,3 x=1,2,3"]].concat();
    assert_eq!(found(&writes, &["x=1,2,3"]), ["G-single"], "InnoDB writes to the newest version, which is seen then");
    assert_eq!(found(&["rr ok r? r:1", "rr ok r? r!1"], &["r?1"]), ["G-single"], "a lock shows the newest version");
}

#[test]
fn reads_that_do_not_fit_each_other_and_lost_writes_are_told() {
    let writes = ["rr ok x+1", "rr ok x+2"];
    assert_eq!(found(&[&writes[..], &["rr ok x=2"]].concat(), &["x=1,2"]), ["G-single", "order"]);
    assert_eq!(found(&writes, &["x=1"]), ["lost"]);
    assert_eq!(found(&[&writes[..], &["rr ok x=1,2"]].concat(), &["x=1"]), ["lost"], "somebody has seen it");
    assert_eq!(found(&writes, &["x=1,2,2"]), ["garbage"]);
    assert_eq!(found(&["rr ok x=4"], &["x=4"]), ["garbage"], "nobody wrote it");
}

#[test]
fn a_cycle_is_told_with_its_transactions() {
    let history: Vec<Transaction> = ["rc ok x+1 y=1", "rr ok y+1 x=1"].iter().enumerate().map(transaction).collect();
    let last = BTreeMap::from([(key("x"), vec![1]), (key("y"), vec![1])]);
    let told = check(&history, &last).forbidden();
    assert_eq!(told.len(), 1, "{told:?}");
    for words in ["G1c at REPEATABLE READ: 1, such as T0.1 (node1, ", "was read by T1.1", "was read by the first"] {
        assert!(told[0].contains(words), "{told:?}");
    }
}

#[test]
fn a_long_history_is_checked_without_recursion() {
    let history: Vec<Transaction> = (0..20_000)
        .map(|nth: i64| Transaction {
            id: (0, nth),
            node: 0,
            level: Level::RepeatableRead,
            is_streaming: false,
            outcome: Outcome::Confirmed,
            error: None,
            steps: vec![
                Step::Write { key: Key::List(nth / 1_000), value: nth },
                Step::Write { key: Key::List(-1), value: nth },
            ],
        })
        .collect();
    let mut last: BTreeMap<Key, Vec<i64>> =
        (0..20).map(|list| (Key::List(list), (list * 1_000..).take(1_000).collect())).collect();
    last.insert(Key::List(-1), (0..20_000).collect());
    let found = check(&history, &last);
    assert!(found.0.is_empty());
}
