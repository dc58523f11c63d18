//! The session's state: variables set in mid-stream, for good or for one statement.

use super::world::World;
use super::{effects, rows};

/// Session variables and values that can be seen in what later statements do.
const VARIABLES: &[(&str, &[&str])] = &[
    ("time_zone", &["'+00:00'", "'+05:30'", "'-03:00'"]),
    (
        "sql_mode",
        &["''", "'STRICT_ALL_TABLES'", "'NO_AUTO_VALUE_ON_ZERO'", "'ANSI_QUOTES'", "'PIPES_AS_CONCAT'", "DEFAULT"],
    ),
    ("foreign_key_checks", &["0", "1", "1"]),
    ("unique_checks", &["0", "1"]),
    ("check_constraint_checks", &["0", "1"]),
    ("auto_increment_increment", &["1", "1", "2", "5"]),
    ("auto_increment_offset", &["1", "1", "2"]),
    ("default_storage_engine", &["InnoDB", "MyISAM", "Aria", "InnoDB"]),
    ("sql_select_limit", &["0", "1", "3", "DEFAULT", "DEFAULT"]),
    ("div_precision_increment", &["4", "9", "0"]),
    ("group_concat_max_len", &["1024", "5"]),
    ("max_error_count", &["64", "0", "1"]),
    ("collation_connection", &["utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_general_ci"]),
    ("collation_server", &["utf8mb4_bin", "latin1_swedish_ci"]),
    ("collation_database", &["utf8mb4_bin", "latin1_swedish_ci"]),
    ("character_set_results", &["utf8mb4", "latin1", "NULL"]),
    ("last_insert_id", &["5", "17"]),
    ("sql_auto_is_null", &["0", "1"]),
    ("sql_safe_updates", &["0", "1", "0"]),
    ("tx_isolation", &["'READ-COMMITTED'", "'REPEATABLE-READ'", "'SERIALIZABLE'"]),
    ("lc_time_names", &["de_DE", "en_US"]),
    ("wait_timeout", &["1000", "2000"]),
    ("explicit_defaults_for_timestamp", &["0", "1"]),
    ("innodb_strict_mode", &["0", "1"]),
    ("updatable_views_with_limit", &["NO", "YES"]),
    ("completion_type", &["NO_CHAIN", "NO_CHAIN", "CHAIN"]),
];

/// An assignment: `name = value`.
pub fn assignment(world: &mut World) -> String {
    let (name, values) = *world.dice.pick(VARIABLES);
    let scope = *world.dice.pick(&["", "", "SESSION ", "@@session.", "LOCAL ", "@@"]);
    format!("{scope}{name} = {}", world.dice.pick(values))
}

/// A SET of one or several.
pub fn set_text(world: &mut World) -> String {
    match world.dice.below(9) {
        0 => format!("SET NAMES {}", world.dice.pick(&["utf8mb4", "latin1", "binary", "utf8mb4 COLLATE utf8mb4_bin"])),
        1 => format!("SET CHARACTER SET {}", world.dice.pick(&["utf8mb4", "latin1"])),
        2 => format!("SET {}, @x = {}", assignment(world), rows::known_id(world)),
        3 => format!("SET {}, {}", assignment(world), assignment(world)),
        _ => format!("SET {}", assignment(world)),
    }
}

pub fn set(world: &mut World) {
    let statement = set_text(world);
    world.say(statement);
}

/// A statement that sets a user variable, one way or another.
pub fn user_variable_text(world: &mut World) -> String {
    let (name, number) = (world.some_name(), rows::known_id(world));
    match world.dice.below(8) {
        0 => format!("SET @x = {number}, @y = CONCAT(IFNULL(@y, ''), '.')"),
        1 => format!("SELECT COUNT(*) INTO @x FROM {name}"),
        2 => format!("SET @x = (SELECT COUNT(*) FROM {name})"),
        3 => "DO @x := IFNULL(@x, 0) + 1".to_owned(),
        4 => "SET @x = LAST_INSERT_ID(), @y = 'id'".to_owned(),
        5 => format!("UPDATE {name} SET n = (@x := IFNULL(@x, 0) + 1) WHERE id <= {number} ORDER BY id, n, v"),
        6 => "SET @x := @@auto_increment_increment, @y := @@sql_mode".to_owned(),
        _ => match effects::function_call(world) {
            Some(call) => format!("SET @x = {call}"),
            None => "SET @y = 'none'".to_owned(),
        },
    }
}

pub fn user_variables(world: &mut World) {
    let statement = user_variable_text(world);
    world.say(statement);
    let (number, log) = (world.new_number(), world.log());
    world.say(format!("INSERT INTO {log} (what) VALUES (CONCAT_WS(' ', {number}, 'x is', @x)), (@y)"));
}

/// SET STATEMENT … FOR.
pub fn for_one_statement(world: &mut World) {
    const FOR_ONE: [&str; 8] = [
        "max_statement_time = 60",
        "sql_mode = ''",
        "foreign_key_checks = 0",
        "auto_increment_increment = 3",
        "default_storage_engine = MyISAM",
        "unique_checks = 0",
        "sql_select_limit = 1",
        "group_concat_max_len = 4",
    ];
    let setting = *world.dice.pick(&FOR_ONE);
    let statement = effects::statement(world);
    world.say(format!("SET STATEMENT {setting} FOR {statement}"));
    let after = effects::statement(world);
    world.say(after);
}

/// The time stands still for some statements. What reads it stands with what sets it: alone it would differ by itself.
pub fn time(world: &mut World) {
    let second = 1_600_000_000 + world.dice.below(1_000_000);
    let log = world.log();
    world.say(format!(
        "SET timestamp = {second};\nINSERT INTO {log} (what) VALUES (NOW()), (UNIX_TIMESTAMP());\n\
         INSERT INTO {log} (what) SELECT NOW()"
    ));
    rows::run(world);
    if world.dice.chance(80) {
        world.say("SET timestamp = DEFAULT");
    }
}

/// Random numbers, with their seeds for the same reason.
pub fn random_numbers(world: &mut World) {
    let (one, other) = (world.dice.below(1000), world.dice.below(1000));
    let table = world.some_table();
    let between = if world.dice.chance(40) { format!("{};\n", rows::plain(world, table)) } else { String::new() };
    let log = world.log();
    let more = if world.dice.chance(50) {
        format!(";\nINSERT INTO {log} (what) VALUES ('beside');\nINSERT INTO {log} (what) VALUES (RAND())")
    } else {
        String::new()
    };
    world.say(format!(
        "SET rand_seed1 = {one}, rand_seed2 = {other};\n{between}INSERT INTO {log} (what) VALUES (RAND()), (RAND()){more}"
    ));
}

/// The number of the next row.
pub fn insert_id(world: &mut World) {
    let number = 50 + world.dice.below(50);
    let log = world.log();
    world.say(format!("SET insert_id = {number}"));
    if world.dice.chance(50) {
        rows::run(world);
    }
    let line = world.new_number();
    world.say(format!("INSERT IGNORE INTO {log} (what) VALUES ('numbered {line}')"));
}
