//! Rows: INSERT in all its forms, UPDATE, DELETE, and SELECTs that print what is there.

use super::effects;
use super::world::World;

/// An identity for a row: new, and now and then one that is there.
fn id(world: &mut World, table: usize) -> String {
    let ids = &world.tables[table].ids;
    let next = ids.iter().max().map_or(1, |id| id + 1);
    if world.tables[table].is_numbered && world.dice.chance(25) {
        world.tables[table].ids.push(next);
        return (*world.dice.pick(&["NULL", "DEFAULT", "0"])).to_owned();
    }
    if !world.tables[table].ids.is_empty() && world.dice.chance(4) {
        return world.dice.pick(&world.tables[table].ids).to_string();
    }
    let id = next + world.dice.between(0, 1);
    world.tables[table].ids.push(id);
    id.to_string()
}

/// An identity to look for.
pub fn known_id(world: &mut World) -> i64 {
    world.dice.between(1, 12)
}

fn number(world: &mut World) -> String {
    match world.dice.below(10) {
        0 => "NULL".to_owned(),
        1 => "DEFAULT".to_owned(),
        _ => world.dice.between(0, 40).to_string(),
    }
}

fn text(world: &mut World) -> String {
    (*world.dice.pick(&["'a'", "'b;c'", "'it''s'", "'é'", "NULL", "''", "'-- no'", "'x'", "'10'"])).to_owned()
}

/// A row of literals.
fn row(world: &mut World, table: usize) -> String {
    format!("({}, {}, {})", id(world, table), number(world), text(world))
}

/// A plain INSERT into a table.
pub fn plain(world: &mut World, table: usize) -> String {
    let name = world.name_of(table);
    let rows: Vec<String> = (0..world.dice.below(4) + 1).map(|_| row(world, table)).collect();
    format!("INSERT INTO {name} (id, n, v) VALUES {}", rows.join(", "))
}

pub fn run(world: &mut World) {
    let table = world.some_table();
    for _ in 0..world.dice.below(6) + 1 {
        let statement = plain(world, table);
        world.say(statement);
    }
}

/// Tables by turns, which may be spread over connections.
pub fn run_in_turns(world: &mut World) {
    let tables = [world.some_table(), world.some_table(), world.some_table()];
    for _ in 0..world.dice.below(12) + 4 {
        let table = *world.dice.pick(&tables);
        let statement = plain(world, table);
        world.say(statement);
    }
}

/// Rows that leave columns to their defaults.
pub fn left_out(world: &mut World) {
    let table = world.some_table();
    for _ in 0..world.dice.below(3) + 1 {
        let name = world.name_of(table);
        let statement = match world.dice.below(5) {
            0 => format!("INSERT INTO {name} (id) VALUES ({}), ({})", id(world, table), id(world, table)),
            1 => format!("INSERT INTO {name} (v) VALUES ({}), ({})", text(world), text(world)),
            2 => format!("INSERT INTO {name} SET id = {}", id(world, table)),
            3 => format!("INSERT INTO {name} (id, n) VALUES ({}, DEFAULT)", id(world, table)),
            _ => format!("INSERT INTO {name} () VALUES ()"),
        };
        world.say(statement);
    }
}

/// A value that reads more than itself.
pub fn expression(world: &mut World) -> String {
    let table = world.some_name();
    match world.dice.below(12) {
        0 => "@x".to_owned(),
        1 => "(@x := IFNULL(@x, 0) + 1)".to_owned(),
        2 => "LAST_INSERT_ID()".to_owned(),
        3 => format!("(SELECT COUNT(*) FROM {table} AS c)"),
        4 => format!("(SELECT MAX(n) FROM {table} AS c)"),
        5 => "@@auto_increment_increment".to_owned(),
        6 => "1 / 3".to_owned(),
        7 => match world.sequences.is_empty() {
            true => "7 + 1".to_owned(),
            false => format!("NEXT VALUE FOR {}", world.dice.pick(&world.sequences)),
        },
        8 => "LENGTH(CONCAT('a', @y))".to_owned(),
        9 => "@@in_transaction + @@autocommit * 10".to_owned(),
        _ => effects::function_call(world).unwrap_or_else(|| "ABS(-3)".to_owned()),
    }
}

pub fn expressions(world: &mut World) {
    let table = world.some_table();
    let name = world.name_of(table);
    let rows: Vec<String> = (0..world.dice.below(2) + 1)
        .map(|_| format!("({}, {}, {})", id(world, table), expression(world), text(world)))
        .collect();
    world.say(format!("INSERT INTO {name} (id, n, v) VALUES {}", rows.join(", ")));
    if world.dice.chance(50) {
        let statement = plain(world, table);
        world.say(statement);
    }
}

pub fn ignore_and_replace(world: &mut World) {
    let table = world.some_table();
    for _ in 0..world.dice.below(3) + 1 {
        let name = world.name_of(table);
        let verb = *world.dice.pick(&["INSERT IGNORE INTO", "REPLACE INTO"]);
        let rows: Vec<String> = (0..world.dice.below(3) + 1)
            .map(|_| format!("({}, {}, {})", known_id(world), number(world), text(world)))
            .collect();
        world.say(format!("{verb} {name} (id, n, v) VALUES {}", rows.join(", ")));
    }
}

pub fn on_duplicate_key(world: &mut World) {
    let name = world.some_name();
    let change = *world.dice.pick(&["n = n + 1", "n = VALUES(n)", "v = CONCAT(IFNULL(v, ''), '+')", "n = @x"]);
    for _ in 0..world.dice.below(3) + 1 {
        let row = format!("({}, {}, 'dup')", known_id(world), known_id(world));
        world.say(format!("INSERT INTO {name} (id, n, v) VALUES {row} ON DUPLICATE KEY UPDATE {change}"));
    }
}

pub fn from_select(world: &mut World) {
    let (to, from) = (world.some_name(), world.some_name());
    let shift = 100 * (world.dice.below(5) + 1);
    let ignore = *world.dice.pick(&["", " IGNORE"]);
    world.say(format!(
        "INSERT{ignore} INTO {to} (id, n, v) SELECT id + {shift}, n, v FROM {from} AS f WHERE id < 100 ORDER BY id, n, v"
    ));
}

/// An UPDATE of a row or some.
pub fn update_text(world: &mut World) -> String {
    let (name, id) = (world.some_name(), known_id(world));
    let what = *world.dice.pick(&["n = n + 1", "v = CONCAT(IFNULL(v, ''), '!')", "n = @x", "n = 5", "v = NULL"]);
    let condition = *world.dice.pick(&["id =", "id >", "id <="]);
    format!("UPDATE {name} SET {what} WHERE {condition} {id} ORDER BY id, n, v")
}

pub fn update(world: &mut World) {
    let statement = update_text(world);
    world.say(statement);
}

pub fn delete(world: &mut World) {
    let (name, id) = (world.some_name(), known_id(world));
    let condition = *world.dice.pick(&["id =", "id > 5 +"]);
    world.say(format!("DELETE FROM {name} WHERE {condition} {id}"));
}

/// Values that are bent, with warnings, or refused.
pub fn misfits(world: &mut World) {
    let table = world.some_table();
    let name = world.name_of(table);
    let value = *world.dice.pick(&["'12abc'", "99999999999", "'x'", "-99999999999", "''", "1.5"]);
    let ignore = *world.dice.pick(&["", " IGNORE"]);
    let (one, other) = (id(world, table), id(world, table));
    world.say(format!(
        "INSERT{ignore} INTO {name} (id, n, v) VALUES ({one}, {value}, 'bent'), ({other}, 1, 'straight')"
    ));
}

/// What a SELECT prints must not depend on where rows lie.
pub fn select_text(world: &mut World) -> String {
    let name = world.some_name();
    match world.dice.below(5) {
        0 => format!("SELECT id, n, v FROM {name} ORDER BY id, n, v LIMIT 5"),
        1 => format!("SELECT COUNT(*), SUM(n), MAX(v) FROM {name}"),
        2 => format!("SELECT seq, what FROM {} ORDER BY seq DESC LIMIT 4", world.log()),
        3 => format!("SELECT SQL_CALC_FOUND_ROWS id FROM {name} ORDER BY id LIMIT 2"),
        _ => "SELECT 'a constant' AS printed".to_owned(),
    }
}

pub fn select(world: &mut World) {
    let statement = select_text(world);
    world.say(statement);
}

/// A line for the log.
pub fn log_text(world: &mut World) -> String {
    let number = world.new_number();
    format!("INSERT INTO {} (what) VALUES ('line {number}')", world.log())
}
