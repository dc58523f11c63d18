//! Random changes of a source, on a target that has random rows of its own, under `conflict = "overwrite"`.

use std::fmt::Write;
use std::{env, fs, process, thread};

use super::conflicts::rows;
use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::rules::with_rules;
use crate::random::Dice;

const TABLE: &str = "(id INT PRIMARY KEY, a INT UNIQUE, b VARCHAR(20) COLLATE utf8mb4_general_ci, c INT, v VARCHAR(20), \
    UNIQUE (b, c)) ENGINE=InnoDB";

fn seed() -> u64 {
    let seed = env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    seed
}

fn value(dice: &mut Dice) -> String {
    if dice.below(6) == 0 { "NULL".to_owned() } else { dice.below(60).to_string() }
}

fn text(dice: &mut Dice) -> String {
    let letters = ["a", "A", "b", "B ", "ä", "é", "E", "", "zz"];
    format!("'{}'", letters[usize::try_from(dice.below(9)).unwrap()])
}

/// A row, or a change of one: those that break a key are left out.
fn change(dice: &mut Dice, name: &str) -> String {
    let id = dice.below(80);
    let (a, b, c) = (value(dice), text(dice), value(dice));
    match dice.below(8) {
        0..3 => format!("INSERT IGNORE INTO {name} VALUES ({id}, {a}, {b}, {c}, 'theirs')"),
        3 => format!("UPDATE IGNORE {name} SET a = {a} WHERE id = {id}"),
        4 => format!("UPDATE IGNORE {name} SET b = {b}, c = {c} WHERE id = {id}"),
        5 => format!("UPDATE IGNORE {name} SET id = {} WHERE id = {id}", dice.below(80)),
        6 => format!("UPDATE IGNORE {name} SET b = {b} WHERE id BETWEEN {id} AND {}", id + 5),
        _ => format!("DELETE FROM {name} WHERE id = {id}"),
    }
}

fn changes(dice: &mut Dice, server: &hortator_sandbox::Temporary, name: &str, count: u32) {
    let mut connection = server.node(0).connect().unwrap();
    for _ in 0..count {
        connection.execute(b"BEGIN").unwrap();
        for _ in 0..=dice.below(6) {
            connection.execute(change(dice, name).as_bytes()).unwrap();
        }
        connection.execute(b"COMMIT").unwrap();
    }
}

/// Each row that the source has at the end is in the target, and nothing else but rows of the target's own.
#[test]
fn rows_of_one_source() {
    let mut dice = Dice::new(seed());
    let mut fan_in = FanIn::new(1, &[]);
    let text_of_file = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text_of_file.replace("[target]\n", "[target]\nconflict = \"overwrite\"\nworkers = 3\n"));
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1", &format!("CREATE TABLE d1.t {TABLE}")]);
    fan_in.catch_up();
    for round in 0..6 {
        assert_eq!(fan_in.says("pause s1").1, Some(0));
        fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
        let mut own = "DELETE FROM d1.t; INSERT IGNORE INTO d1.t VALUES ".to_owned();
        for number in 0..60 {
            let (id, a, b, c) = (dice.below(80), value(&mut dice), text(&mut dice), value(&mut dice));
            write!(own, "{}({id}, {a}, {b}, {c}, 'mine')", if number > 0 { ", " } else { "" }).unwrap();
        }
        let own: Vec<&str> = own.split("; ").collect();
        run(&fan_in.target, &own);
        changes(&mut dice, &fan_in.sources[0], "d1.t", 200);
        // All rows that are left are changed once more.
        run(&fan_in.sources[0], &[&format!("UPDATE d1.t SET v = 'round {round}'")]);
        assert_eq!(fan_in.says("resume s1").1, Some(0));
        fan_in.catch_up();
        let query = "SELECT * FROM d1.t WHERE v <> 'mine' ORDER BY id";
        assert_eq!(texts(&fan_in.target, query), texts(&fan_in.sources[0], query), "round {round}");
    }
    assert!(!fan_in.says("status --json").0.contains("\"conflicts_overwritten\":0,"));
}

/// Two sources write the same rows at the same time: none of them stops, and the table is whole.
#[test]
fn rows_of_two_sources() {
    let seed = seed();
    let rules = "[[source.rule]]\nmatch = \"d*.t\"\nto = \"all.t\"\n";
    let mut fan_in = with_rules(2, &[], rules);
    let text_of_file = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text_of_file.replace("[target]\n", "[target]\nconflict = \"overwrite\"\nworkers = 4\n"));
    run(&fan_in.target, &["CREATE DATABASE `all`"]);
    let _agent = fan_in.start();
    for (number, source) in fan_in.sources.iter().enumerate() {
        run(source, &[&format!("CREATE DATABASE d{number}"), &format!("CREATE TABLE d{number}.t {TABLE}")]);
        fan_in.catch_up();
    }
    thread::scope(|scope| {
        for (number, source) in (0_u32..).zip(&fan_in.sources) {
            let mut dice = Dice::new(seed + u64::from(number));
            scope.spawn(move || changes(&mut dice, source, &format!("d{number}.t"), 800));
        }
    });
    fan_in.catch_up();
    let (shown, _) = fan_in.says("status --json");
    assert!(!shown.contains("\"stops\":1"), "{shown}");
    assert_eq!(rows(&fan_in, "SELECT COUNT(*) FROM `all`.t WHERE v <> 'theirs'"), ["0"]);
    assert!(texts(&fan_in.target, "CHECK TABLE `all`.t").iter().all(|row| row[3] == "OK"));
}
