//! Wide dumps: routines, triggers, compound blocks, temporary tables, session variables, diagnostics, definitions of every
//! kind between rows, several schemas and engines, transactions, and statements that fail.
//!
//! What a dump may hold is the table [`FEATURES`], a row and a weight for each feature. A seed switches some of them off, so
//! that each dump has few enough for its causes to be told apart, and all of them meet over many seeds.

mod definitions;
mod diagnostics;
mod effects;
mod rows;
mod schemas;
mod session;
mod transactions;
mod world;

use world::World;

/// Steps of one dump, at least, and how many there may be more.
const STEPS: (u64, u64) = (8, 18);
/// Of a hundred features, so many are switched off for one dump.
const OFF_PERCENT: u64 = 45;

/// Something that a dump may hold.
struct Feature {
    weight: u64,
    write: fn(&mut World),
}

const fn feature(weight: u64, write: fn(&mut World)) -> Feature {
    Feature { weight, write }
}

/// All of them.
const FEATURES: &[Feature] = &[
    feature(30, rows::run),
    feature(14, rows::run_in_turns),
    feature(8, rows::left_out),
    feature(10, rows::expressions),
    feature(6, rows::ignore_and_replace),
    feature(4, rows::on_duplicate_key),
    feature(5, rows::from_select),
    feature(6, rows::update),
    feature(4, rows::delete),
    feature(4, rows::misfits),
    feature(6, rows::select),
    feature(10, session::set),
    feature(4, session::user_variables),
    feature(5, session::for_one_statement),
    feature(2, session::time),
    feature(2, session::random_numbers),
    feature(3, session::insert_id),
    feature(12, diagnostics::ask),
    feature(5, diagnostics::ask_in_values),
    feature(7, effects::function),
    feature(7, effects::procedure),
    feature(7, effects::trigger),
    feature(8, effects::block),
    feature(10, effects::call),
    feature(4, effects::view_of_function),
    feature(4, effects::drop_routine),
    feature(4, effects::prepared),
    feature(4, effects::several_in_one),
    feature(6, definitions::temporary_table),
    feature(6, definitions::drop_temporary_table),
    feature(7, definitions::create_table),
    feature(5, definitions::create_or_replace_table),
    feature(4, definitions::create_table_from),
    feature(8, definitions::alter_table),
    feature(3, definitions::rename_tables),
    feature(4, definitions::truncate),
    feature(4, definitions::drop_tables),
    feature(3, definitions::partitions),
    feature(4, definitions::sequence),
    feature(3, definitions::view),
    feature(3, definitions::index),
    feature(3, definitions::keys_switched),
    feature(3, definitions::merge_table),
    feature(4, schemas::use_schema),
    feature(3, schemas::create_schema),
    feature(2, schemas::replace_schema),
    feature(1, schemas::drop_schema),
    feature(1, schemas::alter_schema),
    feature(7, transactions::transaction),
    feature(8, transactions::of_rows),
    feature(3, transactions::without_autocommit),
    feature(3, transactions::locked),
    feature(2, transactions::foreign_key_checks_off),
    feature(4, transactions::failure),
];

/// The statements of the dump of a seed, each with its delimiter and line end. Any of them may be left out and the rest
/// still be a dump.
pub fn statements(seed: u64) -> Vec<Vec<u8>> {
    let mut world = World::new(seed);
    let weights: Vec<u64> = FEATURES
        .iter()
        .enumerate()
        .map(|(index, feature)| if index > 0 && world.dice.chance(OFF_PERCENT) { 0 } else { feature.weight })
        .collect();
    // Until a session selects something, FOUND_ROWS() is that of an older session.
    world.say("SELECT 1");
    world.say("CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(120))");
    for _ in 0..world.dice.below(3) + 2 {
        definitions::create_table(&mut world);
    }
    for _ in 0..STEPS.0 + world.dice.below(STEPS.1) {
        let index = world.dice.weighted(&weights);
        (FEATURES[index].write)(&mut world);
    }
    world.into_statements()
}
