//! Random tables, and what is known of the rows they hold.

use super::dice::Dice;
use super::values::{Kind, TYPES};

/// How a table's rows are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// An integer that the dump gives.
    Given,
    /// An AUTO_INCREMENT column.
    Counted,
    /// A text.
    Named,
    /// Nothing: equal rows may be there as often as they like.
    None,
}

/// A column beside the identity.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub definition: String,
    /// A reference to another table's identity: the number of that table.
    pub parent: Option<usize>,
    /// A generated column takes no value.
    pub generated: bool,
    /// Whether NULL, DEFAULT and being left out are as good as a value.
    pub optional: bool,
}

/// A table as the dump has left it.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub identity: Identity,
    pub columns: Vec<Column>,
    pub engine: &'static str,
    /// Identities that were inserted or taken, whether or not the rows are still there.
    pub ids: Vec<i64>,
    /// Those that the dump itself gave, to refer to.
    pub known_ids: Vec<i64>,
    pub extra: Vec<String>,
}

impl Table {
    /// A table that may refer to those before it and to itself.
    pub fn random(dice: &mut Dice, before: &[Table]) -> Table {
        let number = before.len();
        let identity =
            [Identity::Given, Identity::Counted, Identity::Named, Identity::None][dice.weighted(&[45, 35, 10, 10])];
        let engine = ["InnoDB", "MyISAM", "Aria"][dice.weighted(&[88, 6, 6])];
        let name = match dice.below(8) {
            0 => format!("odd `;name {number}"),
            1 => format!("T{number}"),
            _ => format!("t{number}"),
        };
        let mut table = Table {
            name,
            identity,
            columns: Vec::new(),
            engine,
            ids: Vec::new(),
            known_ids: Vec::new(),
            extra: Vec::new(),
        };
        for index in 0..dice.below(5) + 1 {
            table.columns.push(Column::random(dice, index));
        }
        table.add_references(dice, before);
        table.add_extras(dice);
        table
    }

    fn add_references(&mut self, dice: &mut Dice, before: &[Table]) {
        let number = before.len();
        if self.engine != "InnoDB" || !dice.chance(50) {
            return;
        }
        let parents = before.iter().enumerate();
        let mut possible: Vec<usize> =
            parents.filter(|(_, table)| table.can_be_parent()).map(|(index, _)| index).collect();
        if self.can_be_parent() {
            possible.push(number);
        }
        if possible.is_empty() {
            return;
        }
        let parent = *dice.pick(&possible);
        let parent_name = if parent == number { &self.name } else { &before[parent].name };
        let action =
            dice.pick(&["", " ON DELETE CASCADE", " ON DELETE SET NULL ON UPDATE CASCADE", " ON DELETE RESTRICT"]);
        self.extra.push(format!("FOREIGN KEY (parent) REFERENCES {} (id){action}", name(parent_name)));
        self.columns.push(Column {
            name: "parent".to_owned(),
            kind: Kind::Integer { limit: 1000 },
            definition: "INT".to_owned(),
            parent: Some(parent),
            generated: false,
            optional: true,
        });
    }

    fn add_extras(&mut self, dice: &mut Dice) {
        let number = self.columns.iter().find(|column| matches!(column.kind, Kind::Integer { .. })).cloned();
        if let Some(column) = number {
            let name = &column.name;
            match dice.below(8) {
                0 => self.extra.push(format!("KEY ({name})")),
                2 if column.parent.is_none() => self.extra.push(format!("CHECK ({name} <> 13)")),
                3 if column.parent.is_none() => self.columns.push(Column {
                    name: "made".to_owned(),
                    kind: Kind::Number,
                    definition: format!("DOUBLE AS ({name} * 2) {}", dice.pick(&["VIRTUAL", "STORED"])),
                    parent: None,
                    generated: true,
                    optional: true,
                }),
                _ => {}
            }
        }
        if dice.chance(20) {
            self.extra.push("UNIQUE KEY (u)".to_owned());
            self.columns.push(Column {
                name: "u".to_owned(),
                kind: Kind::Fresh,
                definition: "BIGINT".to_owned(),
                parent: None,
                generated: false,
                optional: true,
            });
        }
        if self.columns.iter().any(|column| column.name == "c0") && dice.chance(15) {
            self.extra.push("KEY later (c0(3))".to_owned());
            if !matches!(self.columns[0].kind, Kind::Text | Kind::Bytes) {
                self.extra.pop();
            }
        }
    }

    /// Whether other tables may refer to its identity.
    fn can_be_parent(&self) -> bool {
        self.engine == "InnoDB" && matches!(self.identity, Identity::Given | Identity::Counted)
    }

    /// The CREATE TABLE for it.
    pub fn create(&self) -> String {
        let mut parts = Vec::new();
        match self.identity {
            Identity::Given => parts.push("id INT NOT NULL".to_owned()),
            Identity::Counted => parts.push("id INT NOT NULL AUTO_INCREMENT".to_owned()),
            Identity::Named => parts.push("id VARCHAR(20) CHARACTER SET latin1 NOT NULL".to_owned()),
            Identity::None => {}
        }
        parts.extend(self.columns.iter().map(|column| format!("{} {}", column.name, column.definition)));
        if self.identity != Identity::None {
            parts.push("PRIMARY KEY (id)".to_owned());
        }
        parts.extend(self.extra.iter().cloned());
        format!("CREATE TABLE {} ({}) ENGINE={}", name(&self.name), parts.join(", "), self.engine)
    }

    /// Columns that take a value.
    pub fn given(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.generated)
    }
}

impl Column {
    fn random(dice: &mut Dice, index: u64) -> Column {
        let (sql_type, kind) = *dice.pick(&TYPES);
        let mut definition = sql_type.to_owned();
        let has_default = !matches!(kind, Kind::Json | Kind::Uuid | Kind::Point) && sql_type != "TIMESTAMP NULL";
        if has_default && dice.chance(30) {
            definition.push_str(" NOT NULL");
        } else if has_default && dice.chance(20) {
            definition.push_str(match kind {
                Kind::Integer { .. } | Kind::Number | Kind::Year => " DEFAULT 5",
                Kind::Text | Kind::Bytes => " DEFAULT 'd;''x'",
                Kind::Date => " DEFAULT '2020-02-02'",
                _ => "",
            });
        }
        let optional = !definition.contains("NOT NULL");
        Column { name: format!("c{index}"), kind, definition, parent: None, generated: false, optional }
    }
}

/// A name between backticks.
pub fn name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
