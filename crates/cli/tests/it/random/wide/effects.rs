//! What routines, triggers, blocks and prepared statements do, and what calls them.

use super::world::World;
use super::{definitions, rows, session};

/// Where an effect stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    /// In a function or trigger: no result sets, no commits.
    Function,
    /// In a procedure or a block.
    Block,
}

/// A statement within a body.
fn effect(world: &mut World, place: Site) -> String {
    let name = world.short_name();
    let kinds = if place == Site::Function { 11 } else { 18 };
    match world.dice.below(kinds) {
        0 | 1 => rows::log_text(world),
        2 => {
            let table = world.some_table();
            rows::plain(world, table)
        }
        3 => rows::update_text(world),
        4 => format!("SET @x = {}, @y = 'set'", rows::known_id(world)),
        5 => "SET @y = CONCAT(IFNULL(@y, ''), '.')".to_owned(),
        6 => format!("SET SESSION {}", plain_assignment(world)),
        7 => {
            world.temporary.push(name.clone());
            format!("CREATE TEMPORARY TABLE IF NOT EXISTS {name} (id INT, n INT, v VARCHAR(40))")
        }
        8 => format!("DROP TEMPORARY TABLE IF EXISTS {name}"),
        9 => match world.procedures.is_empty() {
            true => rows::log_text(world),
            false => {
                let number = rows::known_id(world);
                format!("CALL {}({number})", world.dice.pick(&world.procedures))
            }
        },
        10 => match world.dice.below(4) {
            0 => "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'on purpose'".to_owned(),
            1 => "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'a warning'".to_owned(),
            _ => "SET last_insert_id = 33".to_owned(),
        },
        11 => rows::select_text(world),
        12 => "SELECT ROW_COUNT()".to_owned(),
        13 => format!("TRUNCATE TABLE {}", world.some_name()),
        14 => format!("CREATE TABLE IF NOT EXISTS {} (id INT PRIMARY KEY, n INT, v VARCHAR(40))", world.some_name()),
        15 => "COMMIT".to_owned(),
        16 => "START TRANSACTION".to_owned(),
        _ => session::user_variable_text(world),
    }
}

/// An assignment without a scope of its own.
fn plain_assignment(world: &mut World) -> String {
    let assignment = session::assignment(world);
    let bare = ["SESSION ", "@@session.", "LOCAL ", "@@"].iter().find_map(|scope| assignment.strip_prefix(scope));
    bare.map_or_else(|| assignment.clone(), str::to_owned)
}

fn body(world: &mut World, place: Site) -> String {
    (0..world.dice.below(3) + 1).map(|_| format!("  {};\n", effect(world, place))).collect()
}

pub fn function(world: &mut World) {
    // Some have the name of what another server has built in, or of a literal.
    let number = world.new_number();
    let name = match world.dice.below(6) {
        0 => (*world.dice.pick(&["n", "b", "utf8", "uuid_to_bin"])).to_owned(),
        _ => format!("f{number}"),
    };
    let replace = if world.functions.contains(&name) { "OR REPLACE " } else { "" };
    let body = body(world, Site::Function);
    let characteristic = *world.dice.pick(&["MODIFIES SQL DATA", "DETERMINISTIC", "NO SQL", ""]);
    world.say_compound(format!(
        "CREATE {replace}FUNCTION {name}(k INT) RETURNS INT {characteristic}\nBEGIN\n{body}  RETURN k + 1;\nEND"
    ));
    world.functions.push(name);
}

pub fn procedure(world: &mut World) {
    let number = world.new_number();
    let body = body(world, Site::Block);
    world.say_compound(format!("CREATE PROCEDURE p{number}(IN k INT)\nBEGIN\n{body}END"));
    world.procedures.push(format!("p{number}"));
}

pub fn trigger(world: &mut World) {
    let (number, table) = (world.new_number(), world.some_name());
    let when = *world.dice.pick(&["AFTER INSERT", "AFTER INSERT", "BEFORE INSERT", "AFTER UPDATE", "BEFORE DELETE"]);
    let body = body(world, Site::Function);
    let new = if when.ends_with("INSERT") && world.dice.chance(30) { "  SET @x = NEW.n;\n" } else { "" };
    world.say_compound(format!("CREATE TRIGGER tr{number} {when} ON {table} FOR EACH ROW\nBEGIN\n{new}{body}END"));
    rows::run(world);
    if world.dice.chance(40) {
        world.say(format!("DROP TRIGGER tr{number}"));
    }
}

/// A compound statement outside of a routine.
pub fn block(world: &mut World) {
    let body = body(world, Site::Block);
    let text = match world.dice.below(5) {
        0 => format!("IF 1 THEN\n{body}END IF"),
        1 => format!("CASE 1 WHEN 1 THEN\n{body}END CASE"),
        2 => format!("FOR i IN 1..2 DO\n{body}END FOR"),
        _ => format!("BEGIN NOT ATOMIC\n{body}END"),
    };
    world.say_compound(text);
    let after = statement(world);
    world.say(after);
}

/// A call of some function.
pub fn function_call(world: &mut World) -> Option<String> {
    if world.functions.is_empty() {
        return None;
    }
    let number = rows::known_id(world);
    Some(format!("{}({number})", world.dice.pick(&world.functions)))
}

pub fn call(world: &mut World) {
    let call = function_call(world);
    let (name, number, log) = (world.some_name(), rows::known_id(world), world.log());
    let statement = match (world.dice.below(9), call) {
        (0..=2, _) | (_, None) if !world.procedures.is_empty() => {
            format!("CALL {}({number})", world.dice.pick(&world.procedures))
        }
        (_, None) => return,
        (3, Some(call)) => format!("DO {call}"),
        (4, Some(call)) => format!("SET @x = {call}"),
        (5, Some(call)) => format!("INSERT INTO {log} (what) VALUES ({call})"),
        (6, Some(call)) => format!("UPDATE {name} SET n = {call} WHERE id = {number}"),
        (7, Some(call)) => format!("INSERT INTO {log} (what) SELECT {call}"),
        (_, Some(call)) => format!("SELECT {call}"),
    };
    world.say(statement);
    let table = world.some_table();
    let after = rows::plain(world, table);
    world.say(after);
}

/// A function behind a view.
pub fn view_of_function(world: &mut World) {
    let Some(call) = function_call(world) else { return };
    let number = world.new_number();
    world.say(format!("CREATE VIEW w{number} AS SELECT {call} AS n"));
    world.say(format!("SELECT n FROM w{number}"));
    rows::run(world);
}

pub fn drop_routine(world: &mut World) {
    if world.dice.chance(50) && !world.functions.is_empty() {
        let name = world.dice.pick(&world.functions).clone();
        world.say(format!("DROP FUNCTION IF EXISTS {name}"));
    } else if !world.procedures.is_empty() {
        let name = world.dice.pick(&world.procedures).clone();
        world.say(format!("DROP PROCEDURE IF EXISTS {name}"));
    }
}

/// A statement of any kind that is one text without a delimiter in it.
pub fn statement(world: &mut World) -> String {
    match world.dice.below(10) {
        0..=2 => {
            let table = world.some_table();
            rows::plain(world, table)
        }
        3 => rows::update_text(world),
        4 => session::set_text(world),
        5 => session::user_variable_text(world),
        6 => definitions::change_text(world),
        7 => rows::select_text(world),
        8 => match function_call(world) {
            Some(call) => format!("SELECT {call}"),
            None => rows::log_text(world),
        },
        _ => rows::log_text(world),
    }
}

/// PREPARE and EXECUTE IMMEDIATE.
pub fn prepared(world: &mut World) {
    let text = statement(world);
    let quoted = format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
    if world.dice.chance(50) {
        world.say(format!("EXECUTE IMMEDIATE {quoted}"));
    } else {
        let number = world.new_number();
        world.say(format!("PREPARE s{number} FROM {quoted}"));
        world.say(format!("EXECUTE s{number}"));
        if world.dice.chance(70) {
            world.say(format!("DEALLOCATE PREPARE s{number}"));
        }
    }
    let after = statement(world);
    world.say(after);
}

/// Several statements between two delimiters.
pub fn several_in_one(world: &mut World) {
    let mut texts: Vec<String> = (0..world.dice.below(2) + 2).map(|_| statement(world)).collect();
    let number = world.new_number();
    if world.dice.chance(30) {
        texts.insert(0, format!("CREATE PROCEDURE q{number}() SELECT 1"));
    }
    if world.dice.chance(30) {
        texts.push(format!("CREATE FUNCTION g{number}() RETURNS INT BEGIN RETURN 1; END"));
    }
    world.say_compound(texts.join("; "));
    let after = statement(world);
    world.say(after);
}
