//! Several schemas: USE, CREATE, CREATE OR REPLACE, DROP and ALTER DATABASE between rows.

use super::world::{SCHEMAS, World};
use super::{definitions, rows};

/// One that is not the first.
fn other(world: &mut World) -> usize {
    if world.dice.chance(70) { 1 } else { 2 }
}

pub fn create_schema(world: &mut World) {
    let schema = other(world);
    world.say(format!("CREATE DATABASE IF NOT EXISTS {}", SCHEMAS[schema]));
    let name = world.short_name();
    world.say(format!(
        "CREATE TABLE IF NOT EXISTS {}.{name} (id INT PRIMARY KEY, n INT, v VARCHAR(40))",
        SCHEMAS[schema]
    ));
    world.know(schema, &name, false);
    rows::run_in_turns(world);
}

pub fn use_schema(world: &mut World) {
    if world.schema == 0 {
        create_schema(world);
        world.schema = other(world);
    } else {
        world.schema = 0;
    }
    world.say(format!("USE {}", SCHEMAS[world.schema]));
    definitions::create_table(world);
    rows::run_in_turns(world);
}

/// All its tables go.
pub fn replace_schema(world: &mut World) {
    let schema = other(world);
    rows::run_in_turns(world);
    world.say(format!("CREATE OR REPLACE DATABASE {}", SCHEMAS[schema]));
    world.tables.retain(|table| table.schema != schema);
    if world.schema == schema {
        // It is no longer the default.
        world.say(format!("USE {}", SCHEMAS[schema]));
    }
    let name = world.short_name();
    world.say(format!("CREATE TABLE {}.{name} (id INT PRIMARY KEY, n INT, v VARCHAR(40))", SCHEMAS[schema]));
    world.know(schema, &name, false);
    rows::run(world);
}

pub fn drop_schema(world: &mut World) {
    let schema = other(world);
    if world.schema == schema {
        return;
    }
    world.say(format!("DROP DATABASE IF EXISTS {}", SCHEMAS[schema]));
    world.tables.retain(|table| table.schema != schema);
    rows::run(world);
}

pub fn alter_schema(world: &mut World) {
    let schema = if world.dice.chance(50) { world.schema } else { other(world) };
    let charset = *world.dice.pick(&["latin1", "utf8mb4"]);
    world.say(format!("ALTER DATABASE {} CHARACTER SET {charset}", SCHEMAS[schema]));
    definitions::create_table(world);
    rows::run(world);
}
