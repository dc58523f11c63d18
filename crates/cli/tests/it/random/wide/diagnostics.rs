//! Statements that ask what the one before did.

use super::world::World;
use super::{effects, rows, session};

/// A question whose answer is printed or kept. `of_warnings`: it may be about warnings and errors.
fn question(world: &mut World, of_warnings: bool) -> String {
    let log = world.log();
    match world.dice.below(if of_warnings { 15 } else { 8 }) {
        0 | 1 => "SELECT ROW_COUNT()".to_owned(),
        2 => "SELECT FOUND_ROWS()".to_owned(),
        3 => "SELECT LAST_INSERT_ID()".to_owned(),
        4 => format!("INSERT INTO {log} (what) VALUES (ROW_COUNT())"),
        5 => format!("INSERT INTO {log} (what) VALUES (FOUND_ROWS())"),
        6 => "SET @x = ROW_COUNT()".to_owned(),
        7 => "SELECT @@identity, @@last_insert_id, @@in_transaction, @@insert_id".to_owned(),
        8 => "SELECT @@warning_count, @@error_count".to_owned(),
        9 | 10 => "SHOW WARNINGS".to_owned(),
        11 => "SHOW COUNT(*) WARNINGS".to_owned(),
        12 => "SHOW ERRORS".to_owned(),
        13 => "GET DIAGNOSTICS @x = ROW_COUNT, @y = NUMBER".to_owned(),
        _ => "GET DIAGNOSTICS CONDITION 1 @x = MYSQL_ERRNO, @y = MESSAGE_TEXT".to_owned(),
    }
}

/// A statement of any kind, and a question behind it.
pub fn ask(world: &mut World) {
    // A SET and the like leave the warnings of what stands before them, which are not to be had of a worker's rows.
    let (before, of_warnings) = match world.dice.below(6) {
        0 => (session::set_text(world), false),
        1 => (rows::select_text(world), false),
        2 => (effects::statement(world), false),
        _ => {
            let table = world.some_table();
            (rows::plain(world, table), true)
        }
    };
    world.say(before);
    let mut of_warnings = of_warnings;
    for _ in 0..world.dice.below(2) + 1 {
        let asked = question(world, of_warnings);
        // Nor does what asks for a number only.
        of_warnings &= !asked.contains("last_insert_id") && !asked.contains("LAST_INSERT_ID");
        world.say(asked);
    }
    if world.dice.chance(25) {
        let log = world.log();
        world.say(format!("INSERT INTO {log} (what) VALUES (CONCAT_WS(' ', 'asked', @x, LEFT(@y, 60)))"));
    }
}

/// Diagnostics among the values of rows, behind rows of other tables.
pub fn ask_in_values(world: &mut World) {
    let table = world.some_table();
    let statement = rows::plain(world, table);
    world.say(statement);
    let log = world.log();
    let value = *world.dice.pick(&[
        "ROW_COUNT()",
        "FOUND_ROWS()",
        "@@warning_count",
        "LAST_INSERT_ID()",
        "@@error_count",
        "@@identity",
    ]);
    world.say(format!("INSERT INTO {log} (what) VALUES (CONCAT('asked ', {value}))"));
}
