//! The agent, a source or the target is killed at any time, again and again, while all sources write: the rows are equal in the
//! end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use hortator_mysql::Connection;

use super::fan_in::{Ends, FanIn, run};
use crate::random::Dice;

const SOURCES: usize = 3;
/// Kills of a usual run; `HORTATOR_KILLS` says how many others are to be.
const KILLS: u32 = 8;
/// The longest time between two kills, in milliseconds.
const LONGEST_LIFE_MS: u64 = 700;

/// One source's schema: keys, no keys, a foreign key.
fn create(source: usize) -> Vec<String> {
    let name = format!("d{}", source + 1);
    vec![
        format!("CREATE DATABASE {name}"),
        format!(
            "CREATE TABLE {name}.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50), n INT, KEY (n)) ENGINE=InnoDB"
        ),
        format!(
            "CREATE TABLE {name}.c (id INT AUTO_INCREMENT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id) \
             ON DELETE CASCADE) ENGINE=InnoDB"
        ),
        format!("CREATE TABLE {name}.no_key (v INT) ENGINE=InnoDB"),
    ]
}

/// Some transaction.
fn write(connection: &mut Connection, dice: &mut Dice) -> Result<(), hortator_mysql::Error> {
    let (id, n) = (1 + dice.below(200), dice.below(1000));
    if dice.below(40) == 0 {
        let (column, table) = (id % 4, id % 3);
        let statement = match dice.below(7) {
            0 => format!("ALTER TABLE no_key ADD COLUMN IF NOT EXISTS c{column} INT DEFAULT {n}"),
            1 => format!("ALTER TABLE no_key DROP COLUMN IF EXISTS c{column}"),
            2 => format!("CREATE TABLE IF NOT EXISTS x{table} (id INT PRIMARY KEY, v INT DEFAULT {n}) ENGINE=InnoDB"),
            3 => format!("DROP TABLE IF EXISTS x{table}"),
            4 => "TRUNCATE TABLE no_key".to_owned(),
            5 => format!("CREATE OR REPLACE VIEW w AS SELECT id, {n} AS n FROM t"),
            _ => format!("CREATE OR REPLACE TABLE y{table} (id INT, c{column} INT) ENGINE=InnoDB"),
        };
        connection.execute(statement.as_bytes())?;
    }
    connection.execute(b"BEGIN")?;
    for _ in 0..=dice.below(3) {
        let statement = match dice.below(6) {
            0 | 1 => format!("INSERT INTO t (v, n) VALUES ('{n}', {n}), ('x', {id})"),
            2 => format!("UPDATE t SET v = CONCAT('{n}-', id), n = n + 1 WHERE id BETWEEN {id} AND {}", id + 3),
            3 => format!("DELETE FROM t WHERE id = {id}"),
            4 => format!("INSERT INTO no_key VALUES ({n}), ({n})"),
            _ => format!("INSERT INTO c (t) SELECT id FROM t WHERE id >= {id} LIMIT 2"),
        };
        connection.execute(statement.as_bytes())?;
    }
    connection.execute(if dice.below(10) == 0 { b"ROLLBACK" } else { b"COMMIT" })?;
    Ok(())
}

#[test]
fn everything_is_killed_again_and_again() {
    let kills = env::var("HORTATOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let mut fan_in = FanIn::new(SOURCES, &[]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[target]\n", "[target]\nworkers = 12\n"));
    let mut agent = Some(fan_in.start());
    for (index, source) in fan_in.sources.iter().enumerate() {
        let statements = create(index);
        run(source, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        for (index, source) in fan_in.sources.iter().enumerate() {
            let (ends, mut dice) = (&ends, Dice::new(dice.below(u64::MAX)));
            scope.spawn(move || {
                while !ends.load(Ordering::SeqCst) {
                    let Ok(mut connection) = source.node(0).connect() else {
                        thread::sleep(Duration::from_millis(20));
                        continue;
                    };
                    // The source may be killed at any time.
                    let used = connection.execute(format!("USE d{}", index + 1).as_bytes());
                    while used.is_ok() && !ends.load(Ordering::SeqCst) && write(&mut connection, &mut dice).is_ok() {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
        for _ in 0..kills {
            thread::sleep(Duration::from_millis(dice.below(LONGEST_LIFE_MS)));
            match dice.below(4) {
                0 | 1 => {
                    drop(agent.take());
                    agent = Some(fan_in.start());
                }
                2 => {
                    fan_in.target.node(0).kill().unwrap();
                    fan_in.target.node(0).start().unwrap();
                }
                _ => {
                    let source = &fan_in.sources[dice.below(SOURCES as u64) as usize];
                    source.node(0).kill().unwrap();
                    source.node(0).start().unwrap();
                }
            }
        }
    });
    for (index, source) in fan_in.sources.iter().enumerate() {
        // The log does not say how far a counter is ahead of the last row.
        let name = format!("d{}", index + 1);
        run(source, &[&format!("INSERT INTO {name}.t VALUES ()"), &format!("INSERT INTO {name}.c VALUES ()")]);
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1", "d2", "d3"]);
    for schema in ["d1", "d2", "d3"] {
        let rows = super::texts(&fan_in.target, &format!("SELECT COUNT(*) FROM {schema}.t"));
        assert_ne!(rows[0][0], "0", "{schema} got rows");
    }
}
