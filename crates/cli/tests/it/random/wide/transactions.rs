//! Transactions of the dump's own, locks, and statements that fail.

use super::world::World;
use super::{effects, rows};

/// Statements within: mostly rows.
fn within(world: &mut World) {
    for _ in 0..world.dice.below(5) + 1 {
        match world.dice.below(8) {
            0 => world.say("SAVEPOINT here"),
            1 => world.say("ROLLBACK TO here"),
            2 => rows::update(world),
            3 => rows::select(world),
            4 => {
                let statement = effects::statement(world);
                world.say(statement);
            }
            _ => rows::run(world),
        }
    }
}

pub fn transaction(world: &mut World) {
    let begin =
        *world.dice.pick(&["BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "BEGIN WORK"]);
    world.say(begin);
    if world.dice.chance(30) {
        world.say("SAVEPOINT here");
    }
    within(world);
    let end = *world.dice.pick(&["COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", ""]);
    if !end.is_empty() {
        world.say(end);
    }
    if end.ends_with("CHAIN") {
        rows::run(world);
        world.say("COMMIT");
    }
}

/// Transactions that hold nothing but rows of one table, most of them.
pub fn of_rows(world: &mut World) {
    let by_autocommit = world.dice.chance(50);
    if by_autocommit {
        world.say("SET autocommit = 0");
    }
    for _ in 0..world.dice.below(3) + 1 {
        if !by_autocommit {
            world.say("BEGIN");
        }
        rows::run(world);
        if world.dice.chance(8) {
            rows::misfits(world);
        }
        let end = *world.dice.pick(&["COMMIT", "COMMIT", "COMMIT", "COMMIT WORK", "ROLLBACK"]);
        world.say(end);
        if world.dice.chance(15) {
            world.say("SELECT ROW_COUNT()");
        }
    }
    if by_autocommit && world.dice.chance(85) {
        world.say("SET autocommit = 1");
    }
}

/// As mariadb-dump --no-autocommit writes it, and otherwise.
pub fn without_autocommit(world: &mut World) {
    world.say("SET autocommit = 0");
    within(world);
    let end = *world.dice.pick(&["COMMIT", "COMMIT", "ROLLBACK"]);
    world.say(end);
    if world.dice.chance(85) {
        world.say("SET autocommit = 1");
    }
}

/// Locks around the rows of a table, as mariadb-dump writes them: a load leaves them out, so that nothing else stands within.
pub fn locked(world: &mut World) {
    let (number, schema) = (world.new_number(), world.schema);
    let name = format!("locked{number}");
    world.say(format!("CREATE TABLE {name} (id INT PRIMARY KEY, n INT, v VARCHAR(40))"));
    world.say(format!("LOCK TABLES {name} WRITE"));
    for round in 0..world.dice.below(4) {
        world.say(format!("INSERT INTO {name} (id, n, v) VALUES ({round}, {number}, 'l'), ({}, 2, 'l')", round + 10));
    }
    world.say("UNLOCK TABLES");
    world.know(schema, &name, false);
}

pub fn foreign_key_checks_off(world: &mut World) {
    let number = world.new_number();
    world.say("SET @old = @@foreign_key_checks, foreign_key_checks = 0");
    world.say(format!(
        "CREATE TABLE child{number} (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent{number} (id)) ENGINE=InnoDB"
    ));
    world.say(format!("INSERT INTO child{number} VALUES (1, 1), (2, 2), (3, NULL)"));
    world.say(format!("CREATE TABLE parent{number} (id INT PRIMARY KEY) ENGINE=InnoDB"));
    world.say(format!("INSERT INTO parent{number} VALUES (1), (2)"));
    world.say("SET foreign_key_checks = @old");
    rows::run(world);
    let parent = rows::known_id(world);
    world.say(format!("INSERT INTO child{number} VALUES (4, {parent}), (5, 2)"));
}

/// A statement that fails, or that may.
pub fn failure(world: &mut World) {
    let (name, number) = (world.some_name(), world.new_number());
    let statement = match world.dice.below(9) {
        0 => "INSERT INTO nowhere VALUES (1)".to_owned(),
        1 => format!("INSERT INTO {name} (id, nothing) VALUES ({number}, 1)"),
        2 => format!("INSERT INTO {name} (id, n, v) VALUES (1, 1, 'a'), (1, 1, 'b')"),
        3 => format!("INSRET INTO {name} VALUES (1)"),
        4 => format!("CREATE TABLE {name} (id INT)"),
        5 => "SELECT nothing".to_owned(),
        6 => "SET sql_mode = 'nonsense'".to_owned(),
        7 => format!("ALTER TABLE {name} DROP COLUMN nothing"),
        _ => format!("SELECT id, (SELECT id FROM {name} AS s) FROM {name} ORDER BY id, n, v"),
    };
    world.say(statement);
    let after = effects::statement(world);
    world.say(after);
}
