//! Definitions between rows: tables and temporary tables of every engine, views, sequences, indexes, partitions.

use super::rows;
use super::world::World;

const COLUMNS: &str = "(id INT, n INT, v VARCHAR(40))";

/// The columns and options of a table; whether the server may number its rows.
fn definition(world: &mut World) -> (String, bool) {
    let is_numbered = world.dice.chance(35);
    let id = match world.dice.below(8) {
        _ if is_numbered => "id INT AUTO_INCREMENT PRIMARY KEY",
        0 => "id INT",
        1 => "id INT, KEY (id)",
        _ => "id INT PRIMARY KEY",
    };
    let default = match world.dice.below(14) {
        0 => " NOT NULL",
        1 => " DEFAULT (CONNECTION_ID() > 0)",
        2 => " DEFAULT (@x := IFNULL(@x, 0) + 1)",
        3 => " DEFAULT (@@auto_increment_increment)",
        4 => " DEFAULT (@@foreign_key_checks + @@unique_checks * 10)",
        5 => " DEFAULT (@@in_transaction)",
        6 => " DEFAULT (@@last_insert_id)",
        _ => " DEFAULT 7",
    };
    let default = if default.contains('@') && !world.has_session_defaults { " DEFAULT 7" } else { default };
    let extra = match world.dice.below(12) {
        0 => ", UNIQUE KEY (n)",
        1 => ", KEY by_n (n)",
        2 => ", g INT AS (id * 2) STORED",
        3 => ", c TIMESTAMP NULL DEFAULT '2020-01-01 12:00:00'",
        4 => ", CHECK (n <> 13)",
        5 => ", w INT INVISIBLE DEFAULT 3",
        _ => "",
    };
    let engine = match world.dice.below(12) {
        0 => " ENGINE=MyISAM",
        1 => " ENGINE=Aria",
        2 => " ENGINE=MEMORY",
        3..=5 => "",
        _ => " ENGINE=InnoDB",
    };
    let partitions = match world.dice.below(12) {
        0 if engine != " ENGINE=MEMORY" && extra != ", UNIQUE KEY (n)" => " PARTITION BY HASH (id) PARTITIONS 3",
        _ => "",
    };
    (format!("({id}, n INT{default}, v VARCHAR(40){extra}){engine}{partitions}"), is_numbered)
}

/// Some schema, mostly the default one.
fn some_schema(world: &mut World) -> usize {
    let schemas: Vec<usize> = world.tables.iter().map(|table| table.schema).collect();
    if !schemas.is_empty() && world.dice.chance(15) { *world.dice.pick(&schemas) } else { world.schema }
}

fn qualified(world: &World, schema: usize, name: &str) -> String {
    if schema == world.schema { name.to_owned() } else { format!("{}.{name}", super::world::SCHEMAS[schema]) }
}

pub fn create_table(world: &mut World) {
    let (schema, name) = (some_schema(world), world.short_name());
    let (definition, is_numbered) = definition(world);
    let named = qualified(world, schema, &name);
    let exists = if world.tables.iter().any(|table| table.name == name) { "IF NOT EXISTS " } else { "" };
    world.say(format!("CREATE TABLE {exists}{named} {definition}"));
    world.know(schema, &name, is_numbered);
}

pub fn create_or_replace_table(world: &mut World) {
    let table = world.some_table();
    let name = world.name_of(table);
    let (definition, is_numbered) = definition(world);
    world.say(format!("CREATE OR REPLACE TABLE {name} {definition}"));
    world.tables[table].is_numbered = is_numbered;
    world.tables[table].ids.clear();
    rows::run(world);
}

/// CREATE TABLE … SELECT, VALUES and LIKE.
pub fn create_table_from(world: &mut World) {
    let (from, name) = (world.some_name(), world.short_name());
    let schema = world.schema;
    let replace = *world.dice.pick(&["OR REPLACE ", ""]);
    let statement = match world.dice.below(6) {
        0 => format!("CREATE {replace}TABLE {name} LIKE {from}"),
        1 => format!("CREATE {replace}TABLE {name} {COLUMNS} SELECT id, n, v FROM {from} AS f ORDER BY id, n, v"),
        2 => format!("CREATE {replace}TABLE {name} AS SELECT id, n, v FROM {from} AS f WHERE id < 9 ORDER BY id, n, v"),
        3 => format!("CREATE {replace}TABLE {name} {COLUMNS} SELECT LAST_INSERT_ID() AS id, @x AS n, @y AS v"),
        4 => format!("CREATE {replace}TABLE {name} AS VALUES ({}, 2, 'a')", rows::expression(world)),
        _ => format!("CREATE TABLE IF NOT EXISTS {name} SELECT (@x := 9) AS id, 1 AS n, 'v' AS v"),
    };
    world.say(statement);
    world.know(schema, &name, false);
    rows::run(world);
}

/// A change of a table's definition that leaves its columns usable.
pub fn change_text(world: &mut World) -> String {
    let (name, number) = (world.some_name(), world.new_number());
    let change = match world.dice.below(14) {
        0 => format!("ADD COLUMN late{number} INT DEFAULT {number}"),
        1 => "MODIFY v VARCHAR(50)".to_owned(),
        2 => "MODIFY n BIGINT DEFAULT 8".to_owned(),
        3 if world.has_session_defaults => "ALTER COLUMN n SET DEFAULT (CONNECTION_ID() > 0)".to_owned(),
        3 | 4 => "ALTER COLUMN n SET DEFAULT 9".to_owned(),
        5 => format!("ADD KEY late{number} (v(4))"),
        6 => "ENGINE=InnoDB".to_owned(),
        7 => "ENGINE=MyISAM".to_owned(),
        8 => "AUTO_INCREMENT=60".to_owned(),
        9 => "CONVERT TO CHARACTER SET latin1".to_owned(),
        10 => "COMMENT='changed'".to_owned(),
        11 => "DROP COLUMN v, ADD COLUMN v VARCHAR(40) DEFAULT 'anew'".to_owned(),
        12 => "ORDER BY n".to_owned(),
        _ => "FORCE".to_owned(),
    };
    format!("ALTER TABLE {name} {change}")
}

pub fn alter_table(world: &mut World) {
    if world.dice.chance(60) {
        rows::run(world);
    }
    let statement = change_text(world);
    world.say(statement);
    rows::run(world);
}

pub fn rename_tables(world: &mut World) {
    let (one, other) = (world.some_table(), world.some_table());
    let (one_name, other_name) = (world.name_of(one), world.name_of(other));
    match world.dice.below(3) {
        0 if one != other => {
            let between = format!("between{}", world.new_number());
            world.say(format!(
                "RENAME TABLE {one_name} TO {between}, {other_name} TO {one_name}, {between} TO {other_name}"
            ));
        }
        1 => {
            let new = format!("t{}", 10 + world.new_number());
            let schema = world.schema;
            let statement = match world.dice.chance(50) {
                true => format!("RENAME TABLE {one_name} TO {new}"),
                false => format!("ALTER TABLE {one_name} RENAME TO {new}"),
            };
            world.say(statement);
            (world.tables[one].schema, world.tables[one].name) = (schema, new);
        }
        _ => world.say(format!("ALTER TABLE {one_name} RENAME COLUMN n TO v, RENAME COLUMN v TO n")),
    }
    rows::run(world);
}

pub fn truncate(world: &mut World) {
    let table = world.some_table();
    let name = world.name_of(table);
    let word = *world.dice.pick(&["TABLE ", ""]);
    world.say(format!("TRUNCATE {word}{name}"));
    world.tables[table].ids.clear();
}

/// DROP TABLE of one, of several, of many that are not there.
pub fn drop_tables(world: &mut World) {
    let table = world.some_table();
    let name = world.name_of(table);
    match world.dice.below(4) {
        0 => world.say(format!("DROP TABLE {name}")),
        1 => world.say(format!("DROP TABLE IF EXISTS nowhere, {name}")),
        2 => {
            let many: Vec<String> = (0..70).map(|number| format!("nowhere{number}")).collect();
            world.say(format!("DROP TABLE IF EXISTS {}, {name}", many.join(", ")));
        }
        _ => world.say(format!("DROP TABLE IF EXISTS {name} /* a comment */")),
    }
    if world.tables.len() > 1 {
        world.tables.remove(table);
    }
    create_table(world);
}

pub fn partitions(world: &mut World) {
    let name = world.some_name();
    let change = *world.dice.pick(&[
        "PARTITION BY HASH (id) PARTITIONS 4",
        "REMOVE PARTITIONING",
        "TRUNCATE PARTITION p0",
        "COALESCE PARTITION 1",
        "ADD PARTITION PARTITIONS 1",
        "ENABLE KEYS PARTITION BY HASH (id) PARTITIONS 2",
        "DISABLE KEYS REMOVE PARTITIONING",
    ]);
    world.say(format!("ALTER TABLE {name} {change}"));
    rows::run(world);
}

pub fn sequence(world: &mut World) {
    if world.sequences.is_empty() || world.dice.chance(30) {
        let name = format!("q{}", world.new_number());
        world.say(format!("CREATE SEQUENCE {name} START WITH 5 INCREMENT BY 2"));
        world.sequences.push(name);
        return;
    }
    let name = world.dice.pick(&world.sequences).clone();
    let (log, table) = (world.log(), world.some_name());
    let statement = match world.dice.below(7) {
        0 => format!("SELECT NEXT VALUE FOR {name}"),
        1 => format!("SET @x = NEXTVAL({name})"),
        2 => format!("SELECT SETVAL({name}, 100)"),
        3 => format!("ALTER SEQUENCE {name} RESTART 50"),
        4 => format!("INSERT INTO {log} (what) VALUES (NEXT VALUE FOR {name}), (NEXTVAL({name}))"),
        5 => format!("ALTER TABLE {table} ALTER COLUMN n SET DEFAULT NEXTVAL({name})"),
        _ => format!("CREATE OR REPLACE SEQUENCE {name} START WITH 9"),
    };
    world.say(statement);
    rows::left_out(world);
}

/// A view that rows can go through.
pub fn view(world: &mut World) {
    let (name, under, number) = (world.short_name(), world.some_name(), world.new_number());
    let schema = world.schema;
    // Sometimes it takes the name of a table that is gone.
    let name = if world.dice.chance(30) { name } else { format!("v{number}") };
    let replace = *world.dice.pick(&["OR REPLACE ", ""]);
    world.say(format!("CREATE {replace}VIEW {name} AS SELECT id, n, v FROM {under}"));
    if name.starts_with('v') {
        world.know(schema, &name, false);
    }
    rows::run(world);
}

pub fn index(world: &mut World) {
    let (table, number) = (world.some_table(), world.new_number());
    let name = world.name_of(table);
    // Which duplicate the server finds first depends on the order in which rows lie in a table without a primary key.
    let unique = if world.tables[table].is_numbered && world.dice.chance(40) { "UNIQUE " } else { "" };
    world.say(format!("CREATE {unique}INDEX i{number} ON {name} (n)"));
    rows::run(world);
    if world.dice.chance(40) {
        world.say(format!("DROP INDEX i{number} ON {name}"));
    }
}

pub fn keys_switched(world: &mut World) {
    let name = world.some_name();
    world.say(format!("/*!40000 ALTER TABLE {name} DISABLE KEYS */"));
    rows::run(world);
    let more = *world.dice.pick(&["", "", ", COMMENT='more'", ", ADD COLUMN IF NOT EXISTS more INT"]);
    world.say(format!("ALTER TABLE {name} ENABLE KEYS{more}"));
}

/// A MERGE table over two of its own, with rows for all three.
pub fn merge_table(world: &mut World) {
    let number = world.new_number();
    let schema = world.schema;
    let children = [format!("ma{number}"), format!("mb{number}")];
    let change = *world.dice.pick(&["INSERT_METHOD=FIRST", "ENGINE=MyISAM", "ENGINE=InnoDB", "COMMENT='merged'"]);
    for child in &children {
        world.say(format!("CREATE TABLE {child} {COLUMNS} ENGINE=MyISAM"));
        if change.starts_with("ENGINE") {
            // Else what is done to it later could leave a table that nobody can read.
            world.know(schema, child, false);
        }
    }
    let union = format!("UNION=({})", children.join(", "));
    world.say(format!("CREATE TABLE mm{number} {COLUMNS} ENGINE=MERGE {union} INSERT_METHOD=LAST"));
    for _ in 0..world.dice.below(4) + 2 {
        let name = format!("m{}{number}", world.dice.pick(&["a", "b", "m"]));
        let id = world.dice.below(90);
        world.say(format!("INSERT INTO {name} (id, n, v) VALUES ({id}, 1, 'm'), ({}, 2, 'm')", id + 1));
    }
    world.say(format!("ALTER TABLE mm{number} {change}"));
    world.say(format!("INSERT INTO {} (id, n, v) VALUES (95, 3, 'm')", children[0]));
    world.say(format!("SELECT id, n, v FROM mm{number} ORDER BY id, n, v"));
}

/// A temporary table, mostly over the name of a table that is there.
pub fn temporary_table(world: &mut World) {
    let (name, from) = (world.short_name(), world.some_name());
    let statement = match world.dice.below(5) {
        0 => format!("CREATE TEMPORARY TABLE {name} LIKE {from}"),
        1 => format!("CREATE OR REPLACE TEMPORARY TABLE {name} {COLUMNS}"),
        2 => format!("CREATE TEMPORARY TABLE {name} {COLUMNS} SELECT id, n, v FROM {from} AS f ORDER BY id, n, v"),
        _ => format!("CREATE TEMPORARY TABLE IF NOT EXISTS {name} (id INT PRIMARY KEY, n INT, v VARCHAR(40))"),
    };
    world.say(statement);
    world.temporary.push(name);
    rows::run_in_turns(world);
}

pub fn drop_temporary_table(world: &mut World) {
    let Some(name) = world.temporary.pop() else { return };
    world.say(format!("DROP TEMPORARY TABLE IF EXISTS {name}"));
    rows::run(world);
}
