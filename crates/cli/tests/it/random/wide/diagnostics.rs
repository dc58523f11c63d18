//! Statements that ask what the one before did.

use super::world::World;
use super::{effects, rows, session};

/// A question whose answer is printed or kept.
fn question(world: &mut World) -> String {
    let log = world.log();
    match world.dice.below(15) {
        0 | 1 => "SELECT ROW_COUNT()".to_owned(),
        2 => "SELECT FOUND_ROWS()".to_owned(),
        3 => "SELECT LAST_INSERT_ID()".to_owned(),
        4 => "SELECT @@warning_count, @@error_count".to_owned(),
        5 | 6 => "SHOW WARNINGS".to_owned(),
        7 => "SHOW COUNT(*) WARNINGS".to_owned(),
        8 => "SHOW ERRORS".to_owned(),
        9 => "GET DIAGNOSTICS @x = ROW_COUNT, @y = NUMBER".to_owned(),
        10 => "GET DIAGNOSTICS CONDITION 1 @x = MYSQL_ERRNO, @y = MESSAGE_TEXT".to_owned(),
        11 => format!("INSERT INTO {log} (what) VALUES (ROW_COUNT())"),
        12 => format!("INSERT INTO {log} (what) VALUES (FOUND_ROWS())"),
        13 => "SET @x = ROW_COUNT()".to_owned(),
        _ => "SELECT @@identity, @@last_insert_id, @@in_transaction, @@insert_id".to_owned(),
    }
}

/// A statement of any kind, and a question behind it.
pub fn ask(world: &mut World) {
    let before = match world.dice.below(6) {
        0 => session::set_text(world),
        1 => rows::select_text(world),
        2 => effects::statement(world),
        _ => {
            let table = world.some_table();
            rows::plain(world, table)
        }
    };
    world.say(before);
    for _ in 0..world.dice.below(2) + 1 {
        let asked = question(world);
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
