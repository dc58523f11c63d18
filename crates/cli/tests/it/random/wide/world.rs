//! A wide dump under way: its tables and routines as far as the generator knows them.
//!
//! What is known may be wrong, as a statement before may have failed or done something else. Then the next one fails too,
//! with the same error on both sides.

use crate::random::Dice;
use crate::servers::DATABASE;

/// The schemas that tables are in; the first is there at the beginning.
pub const SCHEMAS: [&str; 3] = [DATABASE, "aside", "beyond"];

/// A table with the columns `id`, `n` and `v`.
#[derive(Clone, Debug)]
pub struct Table {
    pub schema: usize,
    pub name: String,
    /// The server may number its rows.
    pub is_numbered: bool,
    /// Identities that were inserted.
    pub ids: Vec<i64>,
}

/// A dump under way.
pub struct World {
    pub dice: Dice,
    pub tables: Vec<Table>,
    /// The default schema.
    pub schema: usize,
    pub functions: Vec<String>,
    pub procedures: Vec<String>,
    pub sequences: Vec<String>,
    pub temporary: Vec<String>,
    /// Defaults of columns read the session: in some dumps only, as most of these come out differently then.
    pub has_session_defaults: bool,
    statements: Vec<Vec<u8>>,
    next_number: u64,
}

impl World {
    pub fn new(seed: u64) -> World {
        // Apart from the seeds of the other generator.
        let mut dice = Dice::new(seed.wrapping_mul(0x0001_0000_0001_b3c5));
        World {
            has_session_defaults: dice.chance(30),
            dice,
            tables: Vec::new(),
            schema: 0,
            functions: Vec::new(),
            procedures: Vec::new(),
            sequences: Vec::new(),
            temporary: Vec::new(),
            statements: Vec::new(),
            next_number: 0,
        }
    }

    pub fn into_statements(self) -> Vec<Vec<u8>> {
        self.statements
    }

    /// Adds a statement on a line of its own.
    pub fn say(&mut self, statement: impl AsRef<str>) {
        let end = match self.dice.below(30) {
            0 => ";\n-- a comment; it's one\n",
            1 => " /* ; */;\n",
            _ => ";\n",
        };
        self.statements.push([statement.as_ref(), end].concat().into_bytes());
    }

    /// Adds a text with semicolons in it.
    pub fn say_compound(&mut self, text: impl AsRef<str>) {
        let delimiter = *self.dice.pick(&["//", "$$", ";;"]);
        self.statements
            .push(format!("DELIMITER {delimiter}\n{}{delimiter}\nDELIMITER ;\n", text.as_ref()).into_bytes());
    }

    /// A number that nothing has yet.
    pub fn new_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// A table's name: short, so that tables of several schemas, temporary tables and views share them.
    pub fn short_name(&mut self) -> String {
        format!("t{}", self.dice.below(7))
    }

    /// One that is likely to be there.
    pub fn some_table(&mut self) -> usize {
        if self.tables.is_empty() {
            super::definitions::create_table(self);
        }
        usize::try_from(self.dice.below(self.tables.len() as u64)).expect("an index fits")
    }

    /// How a statement names it.
    pub fn name_of(&mut self, table: usize) -> String {
        let Table { schema, name, .. } = self.tables[table].clone();
        if schema == self.schema && !self.dice.chance(12) { name } else { format!("{}.{name}", SCHEMAS[schema]) }
    }

    /// The name of some table.
    pub fn some_name(&mut self) -> String {
        let table = self.some_table();
        self.name_of(table)
    }

    /// The log, which is in the first schema.
    pub fn log(&self) -> String {
        if self.schema == 0 { "log".to_owned() } else { format!("{DATABASE}.log") }
    }

    /// Takes note of a table.
    pub fn know(&mut self, schema: usize, name: &str, is_numbered: bool) {
        self.tables.retain(|table| table.schema != schema || table.name != name);
        self.tables.push(Table { schema, name: name.to_owned(), is_numbered, ids: Vec::new() });
    }
}
