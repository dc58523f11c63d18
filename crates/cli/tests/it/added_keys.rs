//! Keys that a dump adds one by one: sent as one statement for each table, and nobody can tell but by the time.

use crate::cluster::{cluster, load_over};
use crate::compare::{Terms, assert_same, compare};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, load, run};
use crate::random::Dice;
use crate::servers::{DATABASE, Server, pair};
use crate::target;

/// Dumps of a usual run.
const SEEDS: u64 = 40;

/// Statements of a dump that each add something, or try to.
const STATEMENTS: u64 = 14;

const COLUMNS: &[&str] = &["a", "b", "c", "d", "e", "n"];

/// Values that are unique, values that are not, a text, NULL, and a column that is NOT NULL.
const TABLES: &str = "\
    CREATE TABLE p (id INT PRIMARY KEY, a INT, KEY (a));\nINSERT INTO p VALUES (0, 0), (1, 1), (2, 2), (3, 3);\n\
    CREATE TABLE t (a INT, b INT, c VARCHAR(100), d TEXT, e INT, n INT NOT NULL, g INT, CONSTRAINT was FOREIGN KEY (g) REFERENCES p (id)) ENGINE=InnoDB;\n\
    CREATE TABLE u (a INT, b INT, c VARCHAR(100), d TEXT, e INT, n INT NOT NULL, g INT, UNIQUE (e), UNIQUE (n)) ENGINE=InnoDB;\n\
    CREATE TABLE m (a INT, b INT, c VARCHAR(100), d TEXT, e INT, n INT NOT NULL, g INT, KEY (g)) ENGINE=MyISAM;\n";

/// One clause that adds something. Of a dump that `is_calm` most can be added, of another many cannot.
fn clause(dice: &mut Dice, table: &str, is_calm: bool) -> String {
    let column = *dice.pick(COLUMNS);
    let length = if column == "d" { "(5)" } else { "" };
    let columns = match dice.below(4) {
        0 => format!("{column}{length}, g"),
        1 if !is_calm && dice.chance(20) => "nowhere".to_owned(),
        _ => format!("{column}{length}"),
    };
    let mut name = |names: &[&str]| match (is_calm, dice.below(2)) {
        (_, 0) => String::new(),
        (true, _) => format!("k{}", dice.below(100_000)),
        (false, _) => (*dice.pick(names)).to_owned(),
    };
    let key = name(&["k", "a", "a_2", "b"]);
    let constraint = name(&["f", "h"]);
    let constraint = if constraint.is_empty() { constraint } else { format!("CONSTRAINT {constraint} ") };
    match dice.below(20) {
        0..=8 => format!("ADD {} {key} ({columns})", dice.pick(&["KEY", "INDEX"])),
        9..=10 => format!("ADD UNIQUE KEY {key} ({})", if is_calm { "a, g" } else { &columns }),
        11 => format!("ADD UNIQUE ({})", if is_calm { "a" } else { "d" }),
        12 => format!("ADD PRIMARY KEY ({})", dice.pick(&["a", "n", "n, b"])),
        13 => "ADD FULLTEXT (c)".to_owned(),
        14..=17 => {
            let parents: &[&str] = if is_calm { &["p (id)"] } else { &["p (id)", "p (a)", "nowhere (id)"] };
            format!(
                "ADD {constraint}FOREIGN KEY ({}) REFERENCES {}",
                dice.pick(&["b", "e", "g", "a"]),
                dice.pick(parents)
            )
        }
        18 => format!("ADD CONSTRAINT FOREIGN KEY (g) REFERENCES {table} ({})", dice.pick(&["a", "n"])),
        _ if is_calm => format!("ADD KEY ({columns}) USING BTREE COMMENT 'of {column}'"),
        _ => format!("ADD {column} INT"),
    }
}

fn dump(seed: u64, altered: &[&str]) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let mut text = TABLES.to_owned();
    for table in ["t", "u", "m"] {
        for row in 0..4 {
            let more = dice.below(3);
            text.push_str(&format!(
                "INSERT INTO {table} VALUES ({row}, {more}, 'x{row}', 'y{more}', NULL, {row}, {more});\n"
            ));
        }
    }
    text.push_str(&format!("SET foreign_key_checks = {};\n", dice.below(2)));
    let is_calm = dice.chance(60);
    let mut table = *dice.pick(altered);
    for _ in 0..STATEMENTS {
        if dice.chance(20) {
            table = *dice.pick(altered);
        }
        let clauses: Vec<String> = (0..=dice.weighted(&[8, 2, 1])).map(|_| clause(&mut dice, table, is_calm)).collect();
        text.push_str(&match dice.below(12) {
            0 => format!("CREATE INDEX k{} ON {table} (b, a);\n", dice.below(40)),
            1 => format!("CREATE UNIQUE INDEX k{} ON {DATABASE}.{table} (n);\n", dice.below(40)),
            2 => format!("ALTER TABLE {table} DISABLE KEYS;\n"),
            3 if dice.chance(30) => format!("SELECT COUNT(*) FROM {table};\n"),
            _ => format!("ALTER TABLE {table} {};\n", clauses.join(", ")),
        });
    }
    text.into_bytes()
}

#[test]
fn the_same_keys_as_one_by_one() {
    let wanted = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let first: u64 = wanted.unwrap_or(1);
    let many = std::env::var("HORTATOR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let last = if wanted.is_some() { first } else { many };
    let pair = pair();
    let mut differing = Vec::new();
    let (mut failing, before) = (0, [statements(&pair.client), statements(&pair.hortator)]);
    for seed in first..=last {
        for force in [true, false] {
            // A load that stops at a failure may be ahead with other tables.
            let one = ["t", "u", "m"][usize::try_from(seed).unwrap() % 3];
            let text = if force { dump(seed, &["t", "u", "m"]) } else { dump(seed, &[one]) };
            let terms =
                Terms { contenders: &[Contender::Default], force, row_times: true, is_stricter: false, ahead: &[] };
            let found = compare(&pair, Dump::Bytes(&text), terms);
            failing += u64::from(!found.failures.is_empty());
            if !found.differences.is_empty() {
                let text = String::from_utf8_lossy(&text).into_owned();
                differing.push(format!("== HORTATOR_SEED={seed}: {}\n{text}", found.differences.join("\n")));
            }
        }
    }
    let count = differing.len();
    assert!(count == 0, "{count} dumps differ from the client:\n\n{}\n", differing.join("\n\n"));
    assert!(failing > 0 || wanted.is_some(), "nothing fails in these dumps, so that half of it is not tried");
    let after = [statements(&pair.client), statements(&pair.hortator)];
    let [theirs, ours] = [after[0] - before[0], after[1] - before[1]];
    // Those that fail are sent once more than the client sends them.
    assert!(ours < theirs || wanted.is_some(), "{ours} statements instead of {theirs}");
}

/// Statements so far that add keys.
fn statements(server: &Server) -> u64 {
    let query = "SELECT CAST(SUM(VARIABLE_VALUE) AS INTEGER) FROM information_schema.GLOBAL_STATUS \
                 WHERE VARIABLE_NAME IN ('COM_ALTER_TABLE', 'COM_CREATE_INDEX')";
    let rows = server.connect().fetch(query.as_bytes()).unwrap();
    String::from_utf8(rows[0][0].clone().unwrap()).unwrap().parse().expect("a number")
}

/// A dump as phpMyAdmin and many hands write it, with the keys at its end.
const KEYS_LAST: &str = "\
    CREATE TABLE p (id INT NOT NULL, v INT);\nCREATE TABLE t (id INT NOT NULL, a INT, b VARCHAR(20), c INT);\n\
    INSERT INTO p VALUES (1, 1), (2, 2);\nINSERT INTO t VALUES (1, 2, 'x', 1), (2, 1, 'y', 2);\n\
    ALTER TABLE p ADD PRIMARY KEY (id);\n\
    ALTER TABLE t ADD PRIMARY KEY (id);\nALTER TABLE t ADD UNIQUE KEY (a);\nCREATE INDEX i ON t (b);\n\
    CREATE INDEX j ON t (b);\nALTER TABLE t ADD KEY (a), ADD FULLTEXT KEY (b);\n\
    ALTER TABLE t MODIFY id INT NOT NULL AUTO_INCREMENT;\n\
    ALTER TABLE t ADD KEY (c);\nALTER TABLE t ADD CONSTRAINT one FOREIGN KEY (c) REFERENCES p (id);\n\
    ALTER TABLE t ADD CONSTRAINT two FOREIGN KEY (a) REFERENCES p (id);\n";

#[test]
fn one_statement_for_each_table() {
    if target::mysql().is_some() {
        // There they go one by one.
        return;
    }
    let pair = pair();
    for contender in [Contender::Default, Contender::OneThread] {
        let before = statements(&pair.hortator);
        let terms = Terms { contenders: &[contender], force: false, row_times: true, is_stricter: false, ahead: &[] };
        assert_same(&compare(&pair, Dump::Bytes(KEYS_LAST.as_bytes()), terms).differences);
        // One on p; the first five on t, MODIFY, and the last three.
        assert_eq!(statements(&pair.hortator) - before, 4);
    }
}

#[test]
fn warnings_are_those_of_all() {
    let pair = pair();
    let (_folder, path) = dump_file("dump.sql", KEYS_LAST.as_bytes());
    // Chunks of one byte take one statement each.
    let warnings = |options: &[&str]| {
        pair.hortator.reset();
        let outcome = run(load_into(&pair.hortator, &[options, &["--json", path.to_str().unwrap()]].concat()));
        let told: serde_json::Value = serde_json::from_slice(&outcome.rows).expect("the summary is JSON");
        told["warnings"].as_u64().expect("a number")
    };
    let alone = warnings(&["--chunk-bytes", "1"]);
    assert!(alone > 0, "the dump has a key twice");
    assert_eq!(warnings(&[]), alone);
}

#[test]
fn a_cluster_stops_once_for_each_table() {
    let pair = cluster();
    let (_folder, path) = dump_file("dump.sql", KEYS_LAST.as_bytes());
    let before = statements(&pair.hortator);
    pair.hortator.reset();
    assert_tells(&run(load_over(&pair.hortator, &[0, 1, 2], &[path.to_str().unwrap()])), 0, &[]);
    assert_eq!(statements(&pair.hortator) - before, 4);
    assert_like_client(&pair.client, &pair.hortator, KEYS_LAST);
    assert_same(&pair.hortator.node_differences(false, true));
    let terms =
        Terms { contenders: &[Contender::Default], force: true, row_times: true, is_stricter: false, ahead: &[] };
    for seed in 1..=6 {
        let mut found = compare(&pair, Dump::Bytes(&dump(seed, &["t", "u"])), terms).differences;
        // Rows of MyISAM are on one node only.
        found.retain(|found| !found.contains("rows of m:"));
        assert_same(&found);
    }
}

fn assert_like_client(client: &Server, ours: &Server, text: &str) {
    client.reset();
    let loaded = load(Contender::Client, client, Dump::Bytes(text.as_bytes()), false);
    assert_eq!(loaded.status, Some(0), "{}", loaded.messages);
    let (theirs, ours) = (client.state(true), ours.state(true));
    assert_eq!(theirs.len(), ours.len(), "schemas");
    for (name, state) in &theirs {
        assert_same(&ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found)));
    }
}

#[test]
fn questions_behind_the_last_key() {
    let text = "CREATE TABLE t (a INT, b INT) ENGINE=MyISAM;\nINSERT INTO t VALUES (1, 1), (2, 2), (3, 3);\n\
                ALTER TABLE t ADD KEY (a);\nALTER TABLE t ADD KEY (b);\nALTER TABLE t ADD KEY twice (b);\nSHOW WARNINGS;\n\
                ALTER TABLE t ADD KEY (a, b);\nSELECT ROW_COUNT();\n";
    let terms =
        Terms { contenders: &[Contender::Default], force: false, row_times: true, is_stricter: false, ahead: &[] };
    assert_same(&compare(&pair(), Dump::Bytes(text.as_bytes()), terms).differences);
}
