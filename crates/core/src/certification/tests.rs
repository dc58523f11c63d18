//! The cases of `testdata/certification.txt`, scenarios, and random histories compared with the oracle.

use super::oracle::Oracle;
use super::*;
use crate::testing::{Random, from_seeds};

use Mode::{RowExclusive, RowReference, RowShared, RowUpdate};

const CASES: &str = include_str!("../../testdata/certification.txt");

/// Of version 1.
const FINGERPRINT: u64 = 0xf516_119b_3c60_230c;

const NAMES: [(&str, Mode); 4] =
    [("SHARED", RowShared), ("REFERENCE", RowReference), ("UPDATE", RowUpdate), ("EXCLUSIVE", RowExclusive)];

fn mode(name: &str) -> Mode {
    NAMES.into_iter().find(|&(known, _)| known == name).unwrap_or_else(|| panic!("no mode is called {name}")).1
}

/// The verdicts of a fixed history, as a hash (FNV-1a).
fn fingerprint() -> u64 {
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let (mut index, mut hash) = (CertificationIndex::new(Seqno(0)), 0xcbf2_9ce4_8422_2325u64);
    let mut purged = 0;
    for seqno in 1..=20_000u64 {
        let keys: Vec<(Key, Mode)> = (0..below(4)).map(|_| (row(below(60)), NAMES[below(4) as usize].1)).collect();
        let last_seen = (seqno - 1).saturating_sub(below(40));
        let candidate = Candidate {
            isolation: below(50) == 0,
            pa_unsafe: below(70) == 0,
            implicit_deps: below(30) == 0,
            ..plain(seqno, 1 + below(3), last_seen, &keys)
        };
        let verdict = match index.certify(&candidate) {
            Verdict::Passed { depends_on } => depends_on.0,
            Verdict::Failed(_) => u64::MAX,
        };
        for byte in verdict.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        if seqno % 500 == 0 {
            purged = purged.max(seqno - 100 - below(100));
            index.purge(Seqno(purged));
        }
    }
    hash
}

/// If this fails, verdicts have changed: a node that is upgraded would judge the entries of its log differently than
/// the others did. Keep the old rules for orders that name them, and add a version.
#[test]
fn the_verdicts_of_a_version_of_the_rules_do_not_change() {
    assert_eq!((CERTIFICATION_RULES, fingerprint()), (1, FINGERPRINT));
}

/// A write set of an ordinary transaction.
fn plain(seqno: u64, source: u64, last_seen: u64, keys: &[(Key, Mode)]) -> Candidate<'_> {
    let (seqno, source, last_seen) = (Seqno(seqno), SourceId(source), Seqno(last_seen));
    Candidate { seqno, source, last_seen, isolation: false, pa_unsafe: false, implicit_deps: false, keys }
}

fn not_safe(candidate: Candidate<'_>) -> Candidate<'_> {
    Candidate { pa_unsafe: true, ..candidate }
}

fn implicit(candidate: Candidate<'_>) -> Candidate<'_> {
    Candidate { implicit_deps: true, ..candidate }
}

fn row(image: u64) -> Key {
    Key::row(b"shop", b"orders", 0, &image.to_be_bytes())
}

fn passed(depends_on: u64) -> Verdict {
    Verdict::Passed { depends_on: Seqno(depends_on) }
}

fn lost(winner: u64, key: Key) -> Verdict {
    Verdict::Failed(Failure::Conflict { winner: Seqno(winner), key })
}

/// The file's word for the verdict on the second write set after the first one and an unrelated third one.
fn word(first: &Candidate<'_>, second: &Candidate<'_>) -> &'static str {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(first), passed(0));
    assert!(matches!(index.certify(&plain(2, 9, 1, &[])), Verdict::Passed { .. }));
    match index.certify(second) {
        Verdict::Passed { depends_on: Seqno(0) } => "-",
        Verdict::Passed { depends_on: Seqno(1) } => "waits",
        Verdict::Passed { .. } => "all",
        Verdict::Failed(failure) => {
            assert!(matches!(failure, Failure::Conflict { winner: Seqno(1), .. }));
            "fails"
        }
    }
}

/// The combinations of source, seen and isolation that the header of a table stands for.
fn conditions(header: &str) -> Vec<[&str; 3]> {
    let of = |name: &str| -> Vec<&str> {
        let field = header.trim_matches(['[', ']']).split(", ").find_map(|field| field.strip_prefix(name));
        field.expect("a header has all fields").split('|').collect()
    };
    let (sources, seen, isolation) = (of("source: "), of("seen: "), of("isolation: "));
    let mut all = Vec::new();
    for source in sources {
        for &seen in &seen {
            all.extend(isolation.iter().map(|&isolation| [source, seen, isolation]));
        }
    }
    all
}

/// Checks one cell at every level, under one condition.
fn check_cell(second: &str, first: &str, [source, seen, isolation]: [&str; 3], expected: &str) {
    let resources = [row(1), Key::table(b"shop", b"orders"), Key::schema(b"shop"), Key::server()];
    for resource in resources {
        let (first_keys, second_keys) = ([(resource, mode(first))], [(resource, mode(second))]);
        let source_number = if source == "same" { 7 } else { 8 };
        let mut first_set = plain(1, 7, 0, &first_keys);
        let mut second_set = plain(3, source_number, u64::from(seen == "yes"), &second_keys);
        first_set.isolation = matches!(isolation, "first" | "both");
        second_set.isolation = matches!(isolation, "second" | "both");
        let condition = format!("{second} after {first}, {source} source, seen: {seen}, isolation: {isolation}");
        assert_eq!(word(&first_set, &second_set), expected, "{condition}, at {resource}");
    }
}

#[test]
fn every_cell_of_the_tables_matches_the_file() {
    let (tables, _) = CASES.split_once("[resources]").expect("the section [resources] comes last");
    let mut cells = 0;
    let (mut header, mut columns) = (Vec::new(), Vec::new());
    for line in tables.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if line.starts_with('[') {
            header = conditions(line);
            continue;
        }
        let (second, rest) = line.split_once(' ').expect("a line has a header and cells");
        let words: Vec<&str> = rest.split_whitespace().collect();
        if second == r"second\first" {
            columns = words;
            continue;
        }
        assert_eq!(words.len(), columns.len(), "{line}");
        for (expected, first) in words.into_iter().zip(&columns) {
            for &condition in &header {
                check_cell(second, first, condition, expected);
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 4 * 4 * 2 * 2 * 4, "modes, sources, seen, isolation: each combination once");
}

#[test]
fn ancestors_are_shared_as_in_the_file() {
    fn resource<'a>(words: &mut impl Iterator<Item = &'a str>) -> [(Key, Mode); 1] {
        let level = words.next().expect("a resource begins with its level");
        let path: Vec<&[u8]> = if level == "server" {
            Vec::new()
        } else {
            words.next().expect("then the names").split('.').map(str::as_bytes).collect()
        };
        let key = match path[..] {
            [] => Key::server(),
            [schema] => Key::schema(schema),
            [schema, table] => Key::table(schema, table),
            [schema, table, image] => Key::row(schema, table, 0, image),
            _ => panic!("{path:?} is not a resource"),
        };
        assert_eq!(format!("{:?}", key.level()).to_lowercase(), level);
        [(key, mode(words.next().expect("then the mode")))]
    }
    let (_, resources) = CASES.split_once("[resources]").expect("the file has them");
    let mut cases = 0;
    for line in resources.lines().skip(2) {
        let mut words = line.split_whitespace();
        let (first, second) = (resource(&mut words), resource(&mut words));
        let expected = words.next().expect("a verdict");
        assert_eq!(word(&plain(1, 7, 0, &first), &plain(3, 8, 0, &second)), expected, "{line}");
        cases += 1;
    }
    assert_eq!(cases, 26);
}

#[test]
fn a_write_set_that_failed_leaves_no_keys() {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&plain(1, 1, 0, &[(row(1), RowUpdate)])), passed(0));
    let before = index.len();
    let keys = [(row(2), RowExclusive), (row(1), RowUpdate), (Key::table(b"mail", b"box"), RowExclusive)];
    assert_eq!(index.certify(&plain(2, 2, 0, &keys)), lost(1, row(1)));
    assert_eq!(index.len(), before);
    assert_eq!(index.certify(&plain(3, 3, 0, &[(row(2), RowExclusive)])), passed(0));
}

#[test]
fn a_write_set_with_very_many_keys_is_entered_whole_or_not_at_all() {
    const ROWS: u64 = 30_000;
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&plain(1, 1, 0, &[(row(0), RowUpdate)])), passed(0));
    let before = index.len();
    let keys: Vec<_> = (0..ROWS).rev().map(|image| (row(image), RowUpdate)).collect();
    assert_eq!(index.certify(&plain(2, 2, 0, &keys)), lost(1, row(0)));
    assert_eq!(index.len(), before);
    assert_eq!(index.certify(&plain(3, 2, 1, &keys)), passed(1));
    for image in 0..ROWS {
        assert_eq!(index.certify(&plain(4 + image, 3, 1, &[(row(image), RowUpdate)])), lost(3, row(image)));
    }
}

#[test]
fn the_verdict_names_the_latest_conflicting_seqno() {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&plain(4, 1, 0, &[(row(1), RowUpdate)])), passed(0));
    assert_eq!(index.certify(&plain(7, 1, 0, &[(row(2), RowUpdate)])), passed(0));
    let keys = [(row(1), RowUpdate), (row(2), RowUpdate)];
    assert_eq!(index.certify(&plain(9, 2, 0, &keys)), lost(7, row(2)));
    assert_eq!(index.certify(&plain(10, 2, 4, &keys[..1])), passed(4));
}

#[test]
fn a_source_does_not_hide_earlier_uses_by_another_source() {
    let mut index = CertificationIndex::new(Seqno(0));
    let keys = [(row(1), RowReference)];
    assert_eq!(index.certify(&plain(1, 1, 0, &keys)), passed(0));
    assert_eq!(index.certify(&plain(2, 2, 0, &keys)), passed(0));
    assert_eq!(index.certify(&plain(3, 2, 0, &keys)), passed(0));
    assert_eq!(index.certify(&plain(4, 2, 0, &[(row(1), RowExclusive)])), lost(1, row(1)));
}

#[test]
fn nothing_is_applied_in_parallel_with_a_pa_unsafe_write_set() {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&not_safe(plain(5, 1, 0, &[(row(1), RowUpdate)]))), passed(4));
    assert_eq!(index.certify(&plain(6, 1, 5, &[(row(2), RowUpdate)])), passed(5));
    assert_eq!(index.certify(&not_safe(plain(7, 2, 0, &[(row(1), RowUpdate)]))), lost(5, row(1)));
    assert_eq!(index.certify(&plain(8, 1, 5, &[(row(3), RowUpdate)])), passed(5), "a failed write set has no effect");
}

#[test]
fn implicit_dependencies_reach_at_least_to_last_seen() {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&plain(4, 1, 0, &[(row(1), RowShared)])), passed(0));
    assert_eq!(index.certify(&implicit(plain(6, 2, 3, &[(row(2), RowUpdate)]))), passed(3));
    assert_eq!(index.certify(&implicit(plain(7, 2, 3, &[(row(1), RowUpdate)]))), passed(4));
    assert_eq!(index.certify(&implicit(plain(8, 2, 99, &[]))), passed(7), "a write set has not seen itself");
}

#[test]
fn a_write_set_older_than_the_purge_fails_unless_isolated() {
    let mut index = CertificationIndex::new(Seqno(0));
    assert_eq!(index.certify(&plain(1, 1, 0, &[(row(1), RowUpdate)])), passed(0));
    index.purge(Seqno(5));
    index.purge(Seqno(3));
    let too_old = Verdict::Failed(Failure::TooOld { last_seen: Seqno(4), purged_upto: Seqno(5) });
    assert_eq!(index.certify(&plain(6, 1, 4, &[(row(1), RowUpdate)])), too_old);
    assert_eq!(index.certify(&plain(7, 2, 5, &[(row(1), RowUpdate)])), passed(5), "at least on the purged seqno");
    assert_eq!(index.certify(&Candidate { isolation: true, ..plain(8, 1, 4, &[]) }), passed(7));
}

#[test]
#[should_panic(expected = "write set 5 was certified after 5")]
fn a_seqno_is_certified_once() {
    let mut index = CertificationIndex::new(Seqno(0));
    index.certify(&plain(5, 1, 0, &[]));
    index.certify(&plain(5, 1, 0, &[]));
}

/// A step of a random history.
#[derive(Debug)]
enum Step {
    Certify { candidate: Candidate<'static>, keys: Vec<(Key, Mode)> },
    Purge(Seqno),
}

impl Step {
    fn take(&self, index: &mut CertificationIndex) -> Option<Verdict> {
        match self {
            Self::Certify { candidate, keys } => Some(index.certify(&Candidate { keys, ..*candidate })),
            Self::Purge(purged_upto) => {
                index.purge(*purged_upto);
                None
            }
        }
    }
}

fn random_key(random: &mut Random, depth_weights: [usize; 4]) -> Key {
    let (schema, table) = (random.one_of(&[b"a", b"b"]), random.one_of(&[b"t", b"u"]));
    let mut keys = vec![Key::server(); depth_weights[0]];
    keys.extend(vec![Key::schema(schema); depth_weights[1]]);
    keys.extend(vec![Key::table(schema, table); depth_weights[2]]);
    let image = random.one_of(&[b"1", b"2", b"3", b"4", b"5"]);
    keys.extend(vec![Key::row(schema, table, 0, image); depth_weights[3]]);
    random.one_of(&keys)
}

/// A history with few keys. `legal`: no last-seen seqno is below the purged seqno.
fn random_history(random: &mut Random, steps: usize, legal: bool) -> Vec<Step> {
    let depth_weights = random.one_of(&[[0, 0, 1, 40], [1, 2, 4, 8], [0, 0, 0, 1], [1, 1, 1, 1]]);
    let modes: &[Mode] = random.one_of(&[
        &[RowShared, RowReference, RowUpdate, RowExclusive][..],
        &[RowReference, RowReference, RowReference, RowUpdate],
        &[RowExclusive],
    ]);
    let (keys_limit, lag, sources) = (random.one_of(&[1, 3, 8]), random.one_of(&[2, 8, 30]), random.one_of(&[1, 2, 4]));
    let rarely = random.one_of(&[3, 12, 1000]);
    let purges = random.one_of(&[3, 20]);
    let (mut seqno, mut purged_upto) = (0, 0);
    let mut history = Vec::new();
    while history.len() < steps {
        if random.below(purges) == 0 {
            purged_upto = purged_upto.max((seqno + 1_u64).saturating_sub(random.below(lag) as u64));
            history.push(Step::Purge(Seqno(purged_upto)));
            seqno = seqno.max(purged_upto);
            continue;
        }
        seqno += 1 + random.below(4) as u64 / 3;
        let last_seen = (seqno - 1).saturating_sub(random.below(lag) as u64).max(if legal { purged_upto } else { 0 });
        let keys: Vec<_> = (0..random.below(keys_limit + 1))
            .map(|_| (random_key(random, depth_weights), random.one_of(modes)))
            .collect();
        let candidate = Candidate {
            isolation: random.below(rarely) == 0,
            pa_unsafe: random.below(rarely) == 0,
            implicit_deps: random.below(rarely) == 0,
            ..plain(seqno, random.below(sources) as u64, last_seen, &[])
        };
        history.push(Step::Certify { candidate, keys });
    }
    history
}

#[test]
fn every_verdict_equals_that_of_the_oracle() {
    from_seeds(1_000, |random| {
        let history = random_history(random, 120, false);
        let mut oracle = Oracle::default();
        let mut index = CertificationIndex::new(Seqno(0));
        for step in &history {
            let expected = match step {
                Step::Certify { candidate, keys } => Some(oracle.certify(&Candidate { keys, ..*candidate })),
                Step::Purge(purged_upto) => {
                    oracle.purge(*purged_upto);
                    None
                }
            };
            assert_eq!(step.take(&mut index), expected, "{step:?}");
        }
    });
}

#[test]
fn replicas_give_the_same_verdicts_at_any_sweep_progress() {
    from_seeds(300, |random| {
        let history = random_history(random, 300, false);
        let mut replicas = [(); 3].map(|()| CertificationIndex::new(Seqno(0)));
        for step in &history {
            replicas[1].sweep(usize::MAX);
            replicas[2].sweep(random.below(3_000));
            let verdicts = replicas.each_mut().map(|replica| step.take(replica));
            assert_eq!(verdicts, [verdicts[0]; 3], "{step:?}");
        }
    });
}

#[test]
fn purging_changes_no_legal_verdict_but_all_depend_on_the_purged_seqno() {
    from_seeds(300, |random| {
        let history = random_history(random, 300, true);
        let [mut purged, mut whole] = [(); 2].map(|()| CertificationIndex::new(Seqno(0)));
        for step in &history {
            let Step::Certify { candidate, keys } = step else {
                step.take(&mut purged);
                continue;
            };
            let candidate = Candidate { keys, ..*candidate };
            let expected = match whole.certify(&candidate) {
                Verdict::Passed { depends_on } => Verdict::Passed { depends_on: depends_on.max(purged.purged_upto()) },
                failed @ Verdict::Failed(_) => failed,
            };
            assert_eq!(purged.certify(&candidate), expected, "{step:?}");
        }
    });
}

#[test]
fn a_new_index_gives_the_same_verdicts_as_one_purged_there() {
    from_seeds(300, |random| {
        let history = random_history(random, 200, false);
        let mut old = CertificationIndex::new(Seqno(0));
        let (before, after) = history.split_at(100);
        for step in before {
            step.take(&mut old);
        }
        let position = old.last.max(old.purged_upto);
        old.purge(position);
        let mut new = CertificationIndex::new(position);
        for step in after {
            assert_eq!(step.take(&mut new), step.take(&mut old), "{step:?}");
        }
    });
}

#[test]
fn an_index_that_replayed_verdicts_gives_the_same_verdicts() {
    from_seeds(300, |random| {
        let history = random_history(random, 200, false);
        let mut old = CertificationIndex::new(Seqno(0));
        let (before, rest) = history.split_at(80);
        let (replayed, after) = rest.split_at(60);
        for step in before {
            step.take(&mut old);
        }
        let start = old.last.max(old.purged_upto);
        let mut new = CertificationIndex::new(start);
        for step in replayed {
            let verdict = step.take(&mut old);
            let Step::Certify { candidate, keys } = step else {
                step.take(&mut new);
                continue;
            };
            let has_passed = matches!(verdict, Some(Verdict::Passed { .. }));
            assert_eq!(new.replay_verdict(&Candidate { keys, ..*candidate }, has_passed).is_some(), has_passed);
        }
        // Both know the same above the position where the new index started.
        old.purge(start);
        for step in after {
            assert_eq!(step.take(&mut new), step.take(&mut old), "{step:?}");
        }
    });
}

#[test]
fn the_index_holds_little_more_than_its_window_and_becomes_empty() {
    const WINDOW: u64 = 2_000;
    const ROWS: u64 = 10;
    let mut index = CertificationIndex::new(Seqno(0));
    let mut most = 0;
    for seqno in 1..=10 * WINDOW {
        // One row in ten is used by all nodes, so that entries of both forms come and go.
        let image = |number: u64| if number == 0 { seqno / 100 } else { seqno * ROWS + number };
        let keys: Vec<_> = (0..ROWS).map(|number| (row(image(number)), RowReference)).collect();
        let purged_upto = index.purged_upto().0;
        assert_eq!(index.certify(&plain(seqno, seqno % 3, seqno - 1, &keys)), passed(purged_upto));
        if seqno % 100 == 0 {
            index.purge(Seqno(seqno.saturating_sub(WINDOW)));
        }
        most = most.max(index.len() as u64);
    }
    let window = WINDOW * (ROWS - 1);
    assert!((window..window * 3 / 2).contains(&most), "{most} entries for a window of {window}");
    let full_bytes = index.bytes();
    assert!(full_bytes < most as usize * 100, "{full_bytes} bytes");
    index.purge(Seqno(10 * WINDOW));
    assert!(!index.sweep(usize::MAX));
    assert_eq!((index.len(), index.is_empty()), (0, true));
    assert!(index.bytes() < full_bytes / 5, "{} of {full_bytes} bytes are left", index.bytes());
}
